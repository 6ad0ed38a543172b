import type { HeadSeen } from '../room/events.js';
import type { PullRequest } from '../room/state.js';
import type { ForgeTrouble, PullRequestState } from '../room/words.js';
import type { AccessHeard, Delivery } from './heard.js';

/** What a delivery needs of the world; implemented in `activities/deliver/`. Each may run twice, or again after it has worked. */
export interface DeliveryActivities {
  /** Keeps that it came, for whoever wonders whether any does. `at`: epoch milliseconds. */
  recordDelivery(input: { delivery: DeliveryName; what: string; at: number }): Promise<void>;
  /** V5: what was read of this commit's CI is old from now on, and of the pull request's that it ran for. */
  hearCi(input: { repository: string; sha: string; key?: string | null }): Promise<void>;
  /**
   * Reads the pull request as it is now, for every living room that stands on it. `due` asks also for the owners whose
   * rooms open by themselves there.
   */
  lookAtPullRequest(input: { delivery: DeliveryName; pullRequest: PullRequest; due: DueInput | null }): Promise<Look>;
  /** Opens one owner's room and adds its crew; goes on where an earlier try of the same delivery stopped. */
  openAutomaticRoom(input: { delivery: DeliveryName; owner: string; pullRequest: PullRequest }): Promise<AutomaticRoom>;
  /** Keeps what an App may reach now. @returns the pull requests of living rooms there, at most 200 */
  changeAccess(input: { delivery: DeliveryName; heard: AccessHeard; at: number }): Promise<{ pullRequests: readonly PullRequest[] }>;
}

export type DeliveryName = Pick<Delivery, 'forge' | 'id'>;

/** As the delivery has them, for a forge that does not say with the head. */
export interface DueInput {
  readonly draft: boolean;
  readonly labels: readonly string[];
  /** It neither opened nor left draft: only a label that is waited for opens a room. */
  readonly byLabel?: boolean;
}

/** What the forge shows of a pull request. */
export interface Shown {
  /** null: closed, and its commits cannot be named any more. */
  readonly sha: string | null;
  readonly state: PullRequestState;
  /** null: the forge did not say. */
  readonly draft: boolean | null;
  readonly labels: readonly string[] | null;
}

export type Look =
  /** No room stands on it and none is to open: the forge was not asked. */
  | { readonly kind: 'nobody' }
  | {
      readonly kind: 'unread';
      readonly trouble: Exclude<ForgeTrouble, 'unavailable' | 'limited'>;
      readonly why: string;
      readonly rooms: readonly string[];
    }
  | { readonly kind: 'read'; readonly shown: Shown; readonly rooms: readonly RoomLook[]; readonly due: readonly string[] };

export interface RoomLook {
  readonly slug: string;
  /** null: the room knows it. */
  readonly seen: HeadSeen | null;
}

export interface AutomaticRoom {
  /** null: none opened, and `why` says why not. */
  readonly slug: string | null;
  readonly why: string;
}
