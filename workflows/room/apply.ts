import type { DraftAsk, Drafting, Finding, Participant, Review, RoomState, Round } from './state.js';
import type { RoomEvent, RoomOpened, RoundOpened } from './events.js';
import { LIMITS } from './state.js';
import { agreedIn, isDisputed, isSettled, isStillBroken, reviewOf } from './findings.js';
import { withoutAgent } from './record.js';

/**
 * The fold: what the room is after an event. The workflow and the projection both use it, so what is read is
 * what was decided. Total, pure, and never a refusal: whatever may not happen was refused by `decide`.
 */
export function apply(state: RoomState | null, event: RoomEvent): RoomState {
  if (state === null) {
    if (event.type !== 'RoomOpened') throw new Error(`a room begins with RoomOpened, not with ${event.type}`);
    return opened(event, event.at);
  }
  return { ...change(state, event), seq: state.seq + 1 };
}

function opened(event: RoomOpened, at: number): RoomState {
  return {
    slug: event.slug,
    seq: 1,
    openedAt: at,
    pullRequest: event.pullRequest,
    recipe: event.recipe,
    owner: event.owner.id,
    participants: [newParticipant({ ...event.owner, kind: 'person' }, at)],
    head: { ...event.head, seq: 1, since: at, stateSince: at, brokenSince: null },
    round: null,
    earlier: [],
    findings: [],
    settled: [],
    nextFinding: 1,
    nextReview: 1,
    draft: null,
    barista: { enabled: event.barista, since: at },
    durations: event.durations,
    requests: [],
    ended: null,
  };
}

function newParticipant(who: Pick<Participant, 'id' | 'name' | 'kind'>, at: number): Participant {
  return { id: who.id, name: who.name, kind: who.kind, roles: [], joinedAt: at, reviewerSince: null, rolesByHand: false, present: true };
}

function change(state: RoomState, event: RoomEvent): RoomState {
  switch (event.type) {
    case 'RoomOpened':
      throw new Error(`room ${state.slug} was opened twice`);
    case 'ParticipantJoined':
      // Whoever is back joins anew (R7): after those who stayed, so that the list stays in the order of joining.
      return {
        ...state,
        participants: [...state.participants.filter((known) => known.id !== event.id), newParticipant(event, event.at)],
      };
    case 'ParticipantLeft':
      return {
        ...state,
        participants: state.participants.map((known) =>
          known.id === event.id ? { ...known, roles: [], reviewerSince: null, rolesByHand: false, present: false } : known,
        ),
      };
    case 'AgentDeleted':
      return { ...withoutAgent(state, event.id), participants: state.participants.filter((known) => known.id !== event.id) };
    case 'RolesChanged':
      return {
        ...state,
        participants: state.participants.map((known) => {
          const given = event.roles.find((change) => change.id === known.id);
          return given ? withRoles(known, given.roles, event.why === 'owner', event.at) : known;
        }),
      };
    case 'RecipeChanged':
      return { ...state, recipe: event.recipe };
    case 'BaristaChanged':
      return {
        ...(event.enabled ? state : overtaken(state, event.at)),
        durations: event.durations,
        barista: { enabled: event.enabled, since: event.enabled && !state.barista.enabled ? event.at : state.barista.since },
      };
    case 'HeadLearnt':
      return {
        ...(willOpenAnother(state, event.sha) ? overtaken(state, event.at) : state),
        head: learnt(state.head, event),
      };
    case 'PullRequestChanged':
      return {
        ...(event.state === 'open' ? state : overtaken(state, event.at)),
        head: { ...state.head, state: event.state, stateSince: event.at, seq: state.head.seq + 1 },
      };
    case 'ForgeBroken':
      return { ...state, head: { ...state.head, brokenSince: event.since } };
    case 'ForgeMended':
      return { ...state, head: { ...state.head, brokenSince: null } };
    case 'RoundOpened':
      return nextRound(state, event, event.at);
    case 'ReviewSubmitted':
      return withRound(
        {
          ...state,
          findings: [
            ...state.findings
              .filter((finding) => !isReplaced(state, finding, event.review.by))
              .map((finding) => keptAgree(state, finding, event.review)),
            ...event.findings,
          ],
          nextFinding: state.nextFinding + event.findings.length,
          nextReview: state.nextReview + 1,
        },
        (round) => ({
          reviews: [...round.reviews.filter((review) => review.by !== event.review.by), event.review],
          declines: round.declines.filter((decline) => decline.by !== event.review.by),
        }),
      );
    case 'ReviewDeclined':
      return withRound(state, (round) => ({
        declines: [...round.declines.filter((decline) => decline.by !== event.decline.by), event.decline],
      }));
    case 'ReviewsRevealed':
      return withRound(state, (round) => ({ seen: [...round.seen, event.to] }));
    case 'FindingAnswered':
      return {
        ...state,
        findings: state.findings.map((finding) =>
          finding.id === event.finding ? { ...finding, answers: [...finding.answers, event.answer] } : finding,
        ),
      };
    case 'RoundClosed':
      return withRound(state, () => ({
        closed: { at: event.at, by: event.by, seq: state.seq + 1, why: event.why, missing: event.missing },
      }));
    case 'ReviewersReminded':
      return withRound(state, (round) => ({ reminded: [...round.reminded, ...event.reviewers] }));
    case 'IdleRanOut':
      return withRound(state, () => ({ idleRanOutAt: event.at }));
    case 'NoReviewNoted':
      return withRound(state, () => ({ noReviewNotedAt: event.at }));
    case 'DraftAsked':
      return withDrafting(state, (drafting) => ({
        asks: [...endAsk(drafting.asks, event.at), { at: event.at, postedAt: null, leads: event.leads, remindedAt: null, endedAt: null }],
        handOffs: drafting.handOffs + (event.why === 'hand_off' ? 1 : 0),
      }));
    case 'AskPostedLate':
      return withRunningAsk(state, { postedAt: event.at });
    case 'LeadsReminded':
      return withRunningAsk(state, { remindedAt: event.at });
    case 'FinalDraftTaken':
      return withDrafting(
        {
          ...state,
          findings: state.findings.map((finding) => (isDisputed(state, finding) ? { ...finding, disputeEndedAt: event.at } : finding)),
        },
        () => ({ finalAt: event.at }),
      );
    case 'FixesNotPushedNoted':
      return withDrafting(state, () => ({ fixesNotPushedAt: event.at }));
    case 'RoundLimitNoted':
      return withDrafting(state, () => ({ limitNotedAt: event.at }));
    case 'DraftStaleNoted':
      return withDrafting(state, () => ({ staleNotedAt: event.at }));
    case 'DraftSaved':
      return {
        ...withDrafting(state, (drafting) => ({ asks: endAsk(drafting.asks, event.at) })),
        draft: {
          round: event.round,
          headSha: event.headSha,
          verdict: event.verdict,
          body: event.body,
          findings: event.findings,
          draftedBy: event.by,
          savedAt: event.at,
          assembled: event.by === 'barista',
          edited: false,
          version: event.version,
          posting: { status: 'draft', failure: null },
        },
      };
    case 'DraftEdited':
      return withDraft(state, {
        verdict: event.verdict,
        body: event.body,
        findings: event.findings,
        edited: true,
        version: event.version,
        posting: { status: 'draft', failure: null },
      });
    case 'PostingStarted':
      return withDraft(state, { posting: { status: 'posting', at: event.at, standing: event.standing } });
    case 'DraftPosted':
      return withDraft(state, {
        posting: {
          status: 'posted',
          at: event.at,
          url: event.url,
          standing: state.draft?.posting.status === 'posting' ? state.draft.posting.standing : [],
          unplaced: event.unplaced,
        },
      });
    case 'PostingFailed':
      return withDraft(state, { posting: { status: 'draft', failure: event.reason } });
    case 'RequestRemembered':
      return { ...state, requests: [...state.requests, event.request].slice(-LIMITS.requests) };
    case 'RoomEnded':
      return { ...state, ended: { at: event.at, reason: event.reason } };
  }
}

function withRound(state: RoomState, patch: (round: Round) => Partial<Round>): RoomState {
  return state.round ? { ...state, round: { ...state.round, ...patch(state.round) } } : state;
}

function withDrafting(state: RoomState, patch: (drafting: Drafting) => Partial<Drafting>): RoomState {
  return withRound(state, (round) => ({ drafting: { ...round.drafting, ...patch(round.drafting) } }));
}

function withRunningAsk(state: RoomState, patch: Partial<DraftAsk>): RoomState {
  return withDrafting(state, (drafting) => ({ asks: drafting.asks.map((ask) => (ask.endedAt === null ? { ...ask, ...patch } : ask)) }));
}

function endAsk(asks: Drafting['asks'], at: number): Drafting['asks'] {
  return asks.map((ask) => (ask.endedAt === null ? { ...ask, endedAt: at } : ask));
}

/** Another head counts anew; another merge base under the same head does not (B2, B12). */
function learnt(head: RoomState['head'], event: RoomEvent & { type: 'HeadLearnt' }): RoomState['head'] {
  const { sha, baseSha, at } = event;
  return { ...head, sha, baseSha, seq: head.seq + 1, since: sha === head.sha ? head.since : at };
}

/** B28: an ask is overtaken, the owner's final draft with it, since it was judged on the old head. */
function overtaken(state: RoomState, at: number): RoomState {
  return withDrafting(state, (drafting) => ({ asks: endAsk(drafting.asks, at), finalAt: null }));
}

/** B12: at this head Barista opens the next round. */
function willOpenAnother(state: RoomState, sha: string): boolean {
  return state.round?.closed != null && state.round.number < LIMITS.rounds && sha !== state.round.headSha;
}

function withDraft(state: RoomState, patch: Partial<NonNullable<RoomState['draft']>>): RoomState {
  return state.draft ? { ...state, draft: { ...state.draft, ...patch } } : state;
}

function withRoles(known: Participant, roles: Participant['roles'], byHand: boolean, at: number): Participant {
  const reviewerSince = roles.includes('reviewer') ? (known.reviewerSince ?? at) : null;
  return { ...known, roles, reviewerSince, rolesByHand: byHand || (known.rolesByHand && roles.length > 0) };
}

/** A replaced review's findings are gone with it (S2). */
function isReplaced(state: RoomState, finding: Finding, by: string): boolean {
  return finding.raisedBy === by && finding.raisedIn === state.round?.number;
}

const NO_DRAFTING: Drafting = { asks: [], handOffs: 0, finalAt: null, fixesNotPushedAt: null, limitNotedAt: null, staleNotedAt: null };

/** The latest round becomes an earlier one: its settled findings and its reviews leave the state (S6, K1). */
function nextRound(state: RoomState, event: RoundOpened, at: number): RoomState {
  const carried = new Set(event.carried);
  const round: Round = {
    number: event.number,
    headSha: event.headSha,
    baseSha: event.baseSha,
    openedAt: at,
    openedBy: event.by,
    openedVia: event.via,
    openedSeq: state.seq + 1,
    closed: null,
    carried: event.carried,
    reviews: [],
    declines: [],
    seen: [],
    reminded: [],
    noReviewNotedAt: null,
    idleRanOutAt: null,
    drafting: NO_DRAFTING,
  };
  const { round: last } = state;
  return {
    ...state,
    round,
    earlier: last ? [...state.earlier, { number: last.number, headSha: last.headSha, baseSha: last.baseSha }] : state.earlier,
    findings: state.findings.filter((finding) => carried.has(finding.id)).map((finding) => stamped(state, finding)),
    settled: [...state.settled, ...state.findings.filter(isSettled).map((finding) => finding.id)],
  };
}

/**
 * A replacement that agrees again agreed all along: its time decides what came first, the agree or a rejection (B15).
 * One that does not takes back what the reviews it replaces have said in this round (S3), and nothing of earlier rounds.
 */
function keptAgree(state: RoomState, finding: Finding, review: Review): Finding {
  if (finding.raisedBy !== review.by) return finding;
  const agreesAgain = review.references.some((reference) => reference.finding === finding.id && reference.stance === 'agree');
  if (agreesAgain) return stamped(state, finding);
  return state.round && agreedIn(state.round, finding) ? { ...finding, agreedByRaiserAt: null } : finding;
}

/** The raiser's agree counts as upholding in any later round (B15), so it outlives the review it stood in. */
function stamped(state: RoomState, finding: Finding): Finding {
  if (finding.agreedByRaiserAt !== null || !isStillBroken(state, finding)) return finding;
  return { ...finding, agreedByRaiserAt: reviewOf(state, finding.raisedBy)?.at ?? null };
}
