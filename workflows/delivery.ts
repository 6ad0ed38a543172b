import {
  ActivityFailure,
  ApplicationFailure,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow';
import type { DeliveryActivities, Look } from './delivery/activities.js';
import { detailsOf, readingOf, whatOf, type Progress } from './delivery/details.js';
import type { AccessHeard, Delivery, PullRequestHeard } from './delivery/heard.js';
import { isShown, LOOK_AGAIN_MS, mayOpen } from './delivery/lag.js';
import { FORGE_REFUSED, type DeliveryDone, type DeliveryInput, type RoomTold } from './delivery/messages.js';
import { HEAD_SIGNAL, SILENCE_SIGNAL, roomWorkflowId, type ForgeSilence } from './messages.js';
import type { HeadSeen } from './room/events.js';
import type { PullRequest } from './room/state.js';

/** A forge or a database may be away so long; after that the delivery fails, and is taken again when it comes again. */
const PATIENCE = '6h';

/** Of the database alone, and of a forge as well. */
const ours = { scheduleToCloseTimeout: PATIENCE, retry: { initialInterval: '1s', maximumInterval: '1m' } } as const;
const theirs = { scheduleToCloseTimeout: PATIENCE, retry: { initialInterval: '5s', maximumInterval: '2m' } } as const;

const { recordDelivery } = proxyActivities<DeliveryActivities>({ ...ours, startToCloseTimeout: '10s', summary: 'keep that it came' });
const { hearCi } = proxyActivities<DeliveryActivities>({
  ...ours,
  startToCloseTimeout: '10s',
  summary: 'what is known of its CI is old',
});
const { changeAccess } = proxyActivities<DeliveryActivities>({
  ...ours,
  startToCloseTimeout: '1m',
  summary: 'keep what the App may reach',
});
const { lookAtPullRequest } = proxyActivities<DeliveryActivities>({
  ...theirs,
  startToCloseTimeout: '1m',
  summary: 'read the pull request',
});
const { openAutomaticRoom } = proxyActivities<DeliveryActivities>({
  ...theirs,
  startToCloseTimeout: '3m',
  summary: 'open a room and add its crew',
});

/**
 * One delivery of a forge (P3, P4): "look again, I heard X". It decides nothing on what it heard, but reads, and tells
 * every room what was read; so one that comes twice, late or out of order changes nothing.
 */
export async function delivery({ delivery: came, at }: DeliveryInput): Promise<DeliveryDone> {
  const report = new Report(came);
  report.publish();
  const { forge, id, heard } = came;
  // Beside each other: deliveries come in crowds, and one after the other costs a workflow task more.
  await Promise.all([recordDelivery({ delivery: { forge, id }, what: whatOf(heard), at }), hear(came, at, report)]);
  return report.done();
}

async function hear(came: Delivery, at: number, report: Report): Promise<void> {
  const { heard } = came;
  switch (heard.kind) {
    case 'pull_request':
      return hearPullRequest(came, heard, report);
    case 'ci':
      return hearCi({ repository: heard.repository, sha: heard.headSha, key: heard.key });
    case 'access':
      return hearAccess(came, heard, at, report);
    case 'ignored':
      return;
  }
}

async function hearPullRequest({ forge, id }: Delivery, heard: PullRequestHeard, report: Report): Promise<void> {
  const { key, repository, url } = heard;
  const pullRequest: PullRequest = { forge, key, repository, url };
  const due = mayOpen(heard) ? { draft: heard.draft, labels: heard.labels, byLabel: heard.what === 'edited' } : null;
  const opener = new Opener({ forge, id }, pullRequest, report);
  let first: number | null = null;
  for (const after of [0, ...LOOK_AGAIN_MS]) {
    if (first !== null) await pause(first + after, report);
    const look = await lookAtPullRequest({ delivery: { forge, id }, pullRequest, due });
    first ??= Date.now();
    if (look.kind === 'nobody') break;
    if (look.kind === 'unread' && look.trouble !== 'not_found') throw ApplicationFailure.nonRetryable(look.why, FORGE_REFUSED);
    report.read(look);
    if (look.kind === 'read') {
      for (const { slug, seen } of look.rooms) await report.tell(slug, seen);
      for (const owner of look.due) await opener.open(owner);
    }
    if (isShown(heard, look.kind === 'read' ? look.shown : null)) break;
  }
  opener.end();
}

async function pause(until: number, report: Report): Promise<void> {
  const left = until - Date.now();
  if (left <= 0) return;
  report.waits(until);
  await sleep(left, { summary: 'the forge does not show yet what was heard; look again' });
  report.waits(null);
}

/** Each owner's room by itself: one that cannot be opened keeps no other from it. */
class Opener {
  private readonly tried = new Set<string>();
  private failure: ActivityFailure | null = null;

  constructor(
    private readonly delivery: Pick<Delivery, 'forge' | 'id'>,
    private readonly pullRequest: PullRequest,
    private readonly report: Report,
  ) {}

  async open(owner: string): Promise<void> {
    if (this.tried.has(owner)) return;
    this.tried.add(owner);
    try {
      const { slug, why } = await openAutomaticRoom({ delivery: this.delivery, owner, pullRequest: this.pullRequest });
      this.report.opening(slug, why);
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      this.failure = error;
      this.report.opening(null, `no room of ${owner} could be opened`);
    }
  }

  /** Fails, once everything else is done, so that what is missing is made up for when the delivery comes again. */
  end(): void {
    if (this.failure !== null) throw this.failure;
  }
}

/** B29: rooms whose pull request can be read again, or not any more, know it at once. */
async function hearAccess({ forge, id }: Delivery, heard: AccessHeard, at: number, report: Report): Promise<void> {
  const { pullRequests } = await changeAccess({ delivery: { forge, id }, heard, at });
  for (const pullRequest of pullRequests) {
    const look = await lookAtPullRequest({ delivery: { forge, id }, pullRequest, due: null });
    report.read(look);
    if (look.kind === 'read') for (const { slug, seen } of look.rooms) await report.tell(slug, seen);
    if (look.kind === 'unread')
      for (const slug of look.rooms) await report.tellSilence(slug, { brokenSince: Date.now(), trouble: look.trouble });
  }
}

/** Tells rooms, and keeps for operators what became of it. */
class Report {
  private readonly rooms = new Map<string, RoomTold>();
  private readonly opened: string[] = [];
  private progress: Omit<Progress, 'rooms'> = { read: null, openings: [], lookAgainAt: null };

  constructor(private readonly delivery: Delivery) {}

  read(look: Look): void {
    if (look.kind === 'nobody') return;
    this.update({ read: look.kind === 'read' ? readingOf(look.shown) : look.why });
  }

  waits(lookAgainAt: number | null): void {
    this.update({ lookAgainAt });
  }

  opening(slug: string | null, line: string): void {
    if (slug !== null) this.opened.push(slug);
    this.update({ openings: [...this.progress.openings, line] });
  }

  async tell(slug: string, seen: HeadSeen | null): Promise<void> {
    if (seen !== null) this.rooms.set(slug, await signal(slug, HEAD_SIGNAL, seen));
    else if (!this.rooms.has(slug)) this.rooms.set(slug, 'knew');
    this.publish();
  }

  async tellSilence(slug: string, silence: ForgeSilence): Promise<void> {
    this.rooms.set(slug, await signal(slug, SILENCE_SIGNAL, silence));
    this.publish();
  }

  publish(): void {
    setCurrentDetails(detailsOf(this.delivery.heard, { ...this.progress, rooms: this.rooms }));
  }

  done(): DeliveryDone {
    return { what: whatOf(this.delivery.heard), rooms: Object.fromEntries(this.rooms), opened: this.opened };
  }

  private update(progress: Partial<Progress>): void {
    this.progress = { ...this.progress, ...progress };
    this.publish();
  }
}

/** A room that has just ended is no fault of the delivery. */
async function signal(slug: string, name: string, told: HeadSeen | ForgeSilence): Promise<RoomTold> {
  try {
    await getExternalWorkflowHandle(roomWorkflowId(slug)).signal(name, told);
    return 'told';
  } catch (error) {
    if (isCancellation(error)) throw error;
    return 'gone';
  }
}
