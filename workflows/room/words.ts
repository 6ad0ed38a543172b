/**
 * The closed word lists of the contract, spelt once. Schemas, the database and the pages import them from
 * here, so that a word cannot be spelt two ways. No import: this file is part of every room's bundle.
 */

export const VERDICTS = ['approve', 'comment', 'request_changes'] as const;
export type Verdict = (typeof VERDICTS)[number];

export const SEVERITIES = ['blocker', 'major', 'minor', 'nit'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const SIDES = ['new', 'old'] as const;
export type Side = (typeof SIDES)[number];

export const STANCES = ['agree', 'dispute'] as const;
export type Stance = (typeof STANCES)[number];

/** What the author answers to a finding (A1). */
export const ANSWERS = ['accept', 'reject'] as const;
export type AuthorAnswer = (typeof ANSWERS)[number];

/** What a finding's raiser says of it (A2). */
export const RESOLUTIONS = ['fixed', 'withdrawn', 'upheld'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

export type AnswerKind = AuthorAnswer | Resolution;

/** In what capacity an answer was given; `reviewer` is A9's lost raiser. */
export type AnsweredAs = 'author' | 'raiser' | 'reviewer';

export const RECIPES = ['panel', 'build_duel'] as const;
export type Recipe = (typeof RECIPES)[number];

export const ROLES = ['lead', 'reviewer', 'author'] as const;
export type Role = (typeof ROLES)[number];

export const FINDING_STATES = ['open', 'accepted', 'rejected', 'upheld', 'disputed', 'fixed', 'withdrawn'] as const;
export type FindingState = (typeof FINDING_STATES)[number];

/** What the draft says of an unsettled finding (D7). */
export const STANDINGS = ['needs_fix', 'disputed', 'rejected', 'not_verified', 'nit'] as const;
export type Standing = (typeof STANDINGS)[number];

export const PHASES = [
  'waiting_for_crew',
  'reviewing',
  'waiting_for_push',
  'waiting_for_answers',
  'drafting',
  'drafted',
  'posted',
  'stopped',
] as const;
export type Phase = (typeof PHASES)[number];

export const CHIPS = ['dispute', 'fixes not pushed', 'draft stale', 'no review', 'posting failed', 'merged', 'closed'] as const;
export type Chip = (typeof CHIPS)[number];

/** What the owner is told of where it asked to be (B29). */
export const ALERTS = ['draft_ready', 'assembled', 'dispute', 'fixes_not_pushed', 'posting_failed', 'forge_broken', 'no_review'] as const;
export type AlertKind = (typeof ALERTS)[number];

export const OFFERS = ['final_draft'] as const;
export type Offer = (typeof OFFERS)[number];

/** The `event` of a message, by which a listener knows what woke it. */
export const MESSAGE_EVENTS = [
  'round_opened',
  'round_closed',
  'head_moved',
  'finding_answered',
  'finding_resolved',
  'reminder',
  'draft_asked',
  'draft_saved',
  'posted',
  'roles_changed',
] as const;
export type MessageEvent = (typeof MESSAGE_EVENTS)[number];

export const REFUSAL_CODES = [
  'not_a_member',
  'role_required',
  'no_open_round',
  'round_open',
  'round_closed',
  'room_closed',
  'frozen',
  'settled',
  'not_found',
  'invalid',
  'head_not_moved',
  'reviews_missing',
  'too_soon',
  'conflict',
  'answered',
  'posted',
  'forge_unavailable',
  'unavailable',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** Why a pull request cannot be read: by who must act, as the forges' own errors are sorted; a limit passes at a known time. */
export type ForgeTrouble = 'unavailable' | 'limited' | 'not_found' | 'refused' | 'invalid';

export type ParticipantKind = 'agent' | 'person';
export type PullRequestState = 'open' | 'merged' | 'closed';
