import { Connection } from '@temporalio/client';
import { PATIENCE } from './patience.js';

/** A connection to this Temporal (`host:port`), which a slow machine may take its time for. */
export function connectTo(address: string): Promise<Connection> {
  return Connection.connect({ address, connectTimeout: PATIENCE.timeout });
}
