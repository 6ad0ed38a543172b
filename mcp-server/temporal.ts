import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor, type ConnectionOptions } from '@temporalio/client';

export interface Temporal {
  readonly client: Client;
  /** Throws when it cannot be reached. */
  ready(): Promise<void>;
  /** Calls under way end soon, and are not tried again. */
  close(): Promise<void>;
}

/** Behind the moment at which the last pause is over: timers are only so exact. */
const MARGIN_MS = 1_000;

/** A client that connects when it is first used. */
export function createTemporal(options: ConnectionOptions, namespace: string | undefined): Temporal {
  // The SDK tries a failed call again after a pause; on a connection that was closed meanwhile that throws where nobody
  // catches it, and ends the process. So no pause begins once it is to be closed, and those that have begun are waited for.
  const usual = defaultGrpcRetryOptions();
  let closing = false;
  let lastPauseEnds = 0;
  const retry = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !closing && usual.retryableDecider(attempt, status),
    delayFunction(attempt, status) {
      const ms = usual.delayFunction(attempt, status);
      lastPauseEnds = Math.max(lastPauseEnds, performance.now() + ms);
      return ms;
    },
  });
  const connection = Connection.lazy({ ...options, interceptors: [retry] });
  return {
    client: new Client({ connection, ...(namespace === undefined ? {} : { namespace }) }),
    async ready() {
      await connection.healthService.check({});
    },
    async close() {
      closing = true;
      const left = lastPauseEnds - performance.now();
      if (left <= 0) await connection.close();
      else setTimeout(() => void connection.close(), left + MARGIN_MS).unref();
    },
  };
}
