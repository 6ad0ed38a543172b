// Random commands for the property test: plain data, so that a counterexample can be read.
import fc from 'fast-check';
import type { Command } from '../../workflows/room/commands.js';
import type { FreshHead } from '../../workflows/room/events.js';
import type { DraftFinding, RoomState } from '../../workflows/room/state.js';
import { RECIPES, RESOLUTIONS, ROLES, type Role, SEVERITIES, SIDES, STANCES, VERDICTS } from '../../workflows/room/words.js';
import { BASE, OWNER, sha } from '../support/room.js';

const AGENTS = ['ag_ana', 'ag_grok', 'ag_kim'] as const;
const EVERYBODY = [OWNER, ...AGENTS, 'us_pia', 'ag_stranger'] as const;

/** What happens next: a command, or the forge's doing. */
export type Move =
  | { readonly kind: 'command'; readonly command: Command; readonly stale: boolean }
  | { readonly kind: 'push'; readonly sha: string }
  | { readonly kind: 'posted'; readonly well: boolean };

const somebody = fc.oneof(
  { weight: 4, arbitrary: fc.constant('ag_ana') },
  { weight: 4, arbitrary: fc.constantFrom(...AGENTS) },
  { weight: 2, arbitrary: fc.constant('us_pia') },
  { weight: 1, arbitrary: fc.constantFrom(...EVERYBODY) },
);
const mostlyOwner = fc.oneof({ weight: 3, arbitrary: fc.constant(OWNER) }, { weight: 1, arbitrary: somebody });
const mostlyLead = fc.oneof({ weight: 3, arbitrary: fc.constant('ag_ana') }, { weight: 1, arbitrary: somebody });
const mostlyAuthor = fc.oneof({ weight: 3, arbitrary: fc.constant('us_pia') }, { weight: 1, arbitrary: somebody });
const commit = fc.constantFrom('a1', 'b2', 'c3').map(sha);
const finding = fc.integer({ min: 1, max: 12 }).map((number) => `f${number}`);
/** Nearly every text is another one, so that a leak can be told by its id; now and then two are equal, as in a repeat. */
const text = fc.oneof(
  { weight: 5, arbitrary: fc.noBias(fc.nat()).map((number) => `tx_${number}_`) },
  { weight: 1, arbitrary: fc.constant('tx_same_') },
);
const textOrNone = fc.option(text, { freq: 2 });
const head: fc.Arbitrary<FreshHead> = fc.record({
  sha: commit,
  baseSha: fc.constant(BASE),
  state: fc.constant('open' as const),
  knownSeq: fc.constant(0),
  move: fc.constant(null),
});

/** Now and then a range, which needs a line after its first. */
const lines = fc
  .tuple(fc.option(fc.integer({ min: 1, max: 9 })), fc.option(fc.integer({ min: 1, max: 9 }), { freq: 1 }))
  .map(([line, startLine]) => ({ line, ...(startLine !== null && line !== null && startLine < line && { startLine }) }));
const elsewhere = fc.record({
  path: fc.constantFrom('a.ts', 'b.ts'),
  side: fc.constantFrom(...SIDES),
  severity: fc.constantFrom(...SEVERITIES),
  body: text,
  outsideDiff: fc.boolean(),
});
const newFinding = fc.tuple(elsewhere, lines).map(([finding, at]) => ({ ...finding, ...at }));
const merged: fc.Arbitrary<DraftFinding> = fc.record({
  path: fc.constant('a.ts'),
  line: fc.constant(null),
  side: fc.constantFrom(...SIDES),
  severity: fc.constantFrom(...SEVERITIES),
  body: text,
  raisedBy: fc.array(somebody, { maxLength: 2 }),
  agreedBy: fc.array(somebody, { maxLength: 2 }),
  disputedBy: fc.array(somebody, { maxLength: 2 }),
  findings: fc.uniqueArray(finding, { maxLength: 2 }),
});
const draft = fc.record({ verdict: fc.constantFrom(...VERDICTS), body: text, findings: fc.array(merged, { maxLength: 2 }) });
const reference = fc.record({ finding, stance: fc.constantFrom(...STANCES), note: textOrNone });

const roles = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Role[]>(['lead', 'reviewer'], ['reviewer'], ['author']) },
  { weight: 1, arbitrary: fc.subarray([...ROLES]) },
);

const type = <T extends Command['type']>(name: T): fc.Arbitrary<T> => fc.constant(name);
const member = fc.constantFrom(...AGENTS, 'us_pia').map((id) => ({
  by: id as string,
  participant: { id: id as string, name: id.slice(3), kind: id.startsWith('ag_') ? ('agent' as const) : ('person' as const) },
}));

const COMMANDS: [number, fc.Arbitrary<Command>][] = [
  [5, member.map(({ by, participant }) => ({ type: 'join' as const, by, participant }))],
  [1, fc.record({ type: type('leave'), by: somebody })],
  [1, fc.record({ type: type('deleteAgent'), by: mostlyOwner, agent: fc.constantFrom(...AGENTS) })],
  [
    3,
    fc.record({
      type: type('setRoles'),
      by: mostlyOwner,
      roles: fc.dictionary(fc.constantFrom(...AGENTS, 'us_pia'), roles, { maxKeys: 2 }),
    }),
  ],
  [2, fc.record({ type: type('setRecipe'), by: mostlyOwner, recipe: fc.constantFrom(...RECIPES) })],
  [1, fc.record({ type: type('setBarista'), by: mostlyOwner, enabled: fc.boolean() })],
  [10, fc.record({ type: type('openRound'), by: mostlyLead, head: fc.option<FreshHead>(head, { freq: 9 }) })],
  [6, fc.record({ type: type('nextRound'), by: mostlyLead, head: fc.option<FreshHead>(head, { freq: 9 }), force: fc.boolean() })],
  [8, fc.record({ type: type('closeRound'), by: mostlyLead, head: fc.option<FreshHead>(head, { freq: 3 }) })],
  [
    30,
    fc.record({
      type: type('submitReview'),
      by: somebody,
      verdict: fc.constantFrom(...VERDICTS),
      summary: text,
      findings: fc.array(newFinding, { maxLength: 2 }),
      references: fc.oneof(
        { weight: 2, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.uniqueArray(reference, { maxLength: 2, selector: (it) => it.finding }) },
      ),
    }),
  ],
  [2, fc.record({ type: type('declineReview'), by: somebody, reason: text, until: fc.constant(null) })],
  [9, fc.record({ type: type('reveal'), by: somebody, round: fc.constant(1) })],
  [
    12,
    fc.record({
      type: type('answerFinding'),
      by: mostlyAuthor,
      finding,
      answer: fc.constantFrom('accept' as const, 'reject' as const),
      reason: textOrNone,
    }),
  ],
  [12, fc.record({ type: type('resolveFinding'), by: somebody, finding, resolution: fc.constantFrom(...RESOLUTIONS), note: textOrNone })],
  [12, fc.record({ type: type('saveDraft'), by: mostlyLead, draft })],
  [4, fc.record({ type: type('editDraft'), by: mostlyOwner, draft, version: fc.constant(1) })],
  [5, fc.record({ type: type('postDraft'), by: mostlyOwner })],
  [1, fc.record({ type: type('finalDraft'), by: mostlyOwner })],
];

const command: fc.Arbitrary<Move> = fc
  .tuple(
    fc.oneof(...COMMANDS.map(([weight, arbitrary]) => ({ weight, arbitrary }))),
    fc.option(fc.integer({ min: 1, max: 99 })),
    fc.integer({ min: 0, max: 9 }),
  )
  .map(([asked, id, luck]) => ({
    kind: 'command',
    command: id === null ? asked : { ...asked, requestId: `${asked.type}:${id}` },
    stale: luck === 0,
  }));

export const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 100, arbitrary: command },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('push' as const), sha: commit }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('posted' as const), well: fc.boolean() }) },
);

/** The command as an edge would send it that has just read the room; a stale one as it was generated. */
export function asOfNow(room: RoomState, { command: asked, stale }: Move & { kind: 'command' }): Command {
  if (stale) return asked;
  switch (asked.type) {
    case 'openRound':
    case 'nextRound':
    case 'closeRound':
      return { ...asked, head: asked.head && { ...asked.head, knownSeq: room.head.seq } };
    case 'reveal':
      return { ...asked, round: room.round?.number ?? 1 };
    case 'submitReview':
      return { ...asked, references: asked.references.filter((reference) => room.round?.carried.includes(reference.finding)) };
    case 'answerFinding':
    case 'resolveFinding':
      return { ...asked, finding: anyOf(room, asked.finding) };
    case 'editDraft':
      return { ...asked, version: room.draft?.version ?? 1 };
    default:
      return asked;
  }
}

/** A finding that is there, where there is one: most ids drawn at random are not. */
function anyOf(room: RoomState, id: string): string {
  return room.findings[Number(id.slice(1)) % room.findings.length]?.id ?? id;
}
