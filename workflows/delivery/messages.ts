import type { Delivery } from './heard.js';

/** The names by which the outside reaches a delivery's workflow. */

export const DELIVERY_WORKFLOW = 'delivery';

/** The same when the forge sends it again. */
export const deliveryWorkflowId = ({ forge, id }: Pick<Delivery, 'forge' | 'id'>): string => `delivery/${forge}/${id}`;

/** Type of the ApplicationFailure of a pull request that may not be read. */
export const FORGE_REFUSED = 'forge_refused';

export interface DeliveryInput {
  readonly delivery: Delivery;
  /** When it came, in epoch milliseconds. */
  readonly at: number;
}

/** What became of it. */
export interface DeliveryDone {
  /** What was heard, in a few words; of an ignored one the reason. */
  readonly what: string;
  /** Rooms that stand on it, and whether they had to be told. */
  readonly rooms: Readonly<Record<string, RoomTold>>;
  /** Rooms that opened because of it. */
  readonly opened: readonly string[];
}

/** `knew`: what was read is what it knows already; `gone`: nothing runs that could be told. */
export type RoomTold = 'told' | 'knew' | 'gone';
