import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDeliveryActivities } from '../../activities/deliver/index.js';
import { createRoomDoor, type Door } from '../../activities/room-door.js';
import { setUpForges } from '../../activities/forge/set-up.js';
import type { AutomaticRooms } from '../../prisma/store.js';
import type { PullRequest } from '../../workflows/room/state.js';
import { deliver, githubWebhook, pullRequestEvent } from '../support/deliveries.js';
import { addAgent, settings, silent, type Person } from '../support/edge.js';
import { PATIENCE } from '../support/patience.js';
import { startOnGitHub, type OnGitHub } from './world.js';

let world: OnGitHub;
let pullRequest: PullRequest;
beforeAll(async () => {
  world = await startOnGitHub();
  const { repo, urls, pull } = world.github;
  const repository = `github:${new URL(urls.web).host}/${repo.id}`;
  pullRequest = { forge: 'github', key: `${repository}#${pull.number}`, repository, url: world.github.pullRequest };
  // With one person alone everything would be linked to it.
  await world.person('somebody');
});
afterAll(() => world?.stop());

let owners = 0;
interface Owner {
  readonly person: Person;
  readonly crew: readonly Person[];
}

/** A new owner whose rooms open by themselves, with a crew of two. */
async function owner(more: Partial<AutomaticRooms> = {}, { linked = true } = {}): Promise<Owner> {
  owners += 1;
  const person = await world.person(`owner-${owners}`);
  const { forge, repository, url } = pullRequest;
  if (linked) await world.store.accounts.linkRepository(person.id, forge, repository);
  const crew = [await addAgent(world.store, person.id, 'ana'), await addAgent(world.store, person.id, 'bo')];
  const automatic: AutomaticRooms = { recipe: 'panel', crew: crew.map(({ id }) => id), barista: false, label: null, ...more };
  await world.store.repositories.keep(person.id, { forge, repository, url }, { automatic, postAs: null, commentInstead: false });
  return { person, crew };
}

async function off({ person }: Owner): Promise<void> {
  const { forge, repository, url } = pullRequest;
  await world.store.repositories.keep(person.id, { forge, repository, url }, { automatic: null, postAs: null, commentInstead: false });
}

async function comes(action: string, id: string = randomUUID()) {
  const answer = await deliver(world.server.url, 'github', githubWebhook('pull_request', pullRequestEvent(world.github, action), { id }));
  expect(answer.status).toBe(202);
  return world.outcome(`delivery/github/${id}`);
}

/** What another worker does with deliveries. */
function activities(doorOf: (whole: Door) => Door = (whole) => whole) {
  const { store, github: fake } = world;
  const [app] = fake.apps;
  const forges = {
    github: { apiUrl: fake.urls.api, app: { id: app!.id, privateKey: app!.privateKey }, reviewer: null },
    gitlab: null,
    webhooks: { github: null, gitlab: { secretToken: null, signingKey: null } },
  };
  const now = () => Date.now();
  const forge = setUpForges({ ...settings(world.databaseUrl), forges }, now, new AbortController().signal, { store, log: silent });
  return createDeliveryActivities({
    store,
    forge,
    now,
    log: silent,
    door: doorOf(createRoomDoor({ client: world.temporal, store, patienceMs: PATIENCE.timeout })),
  });
}

const roomsOf = async ({ person }: Owner) => (await world.rest(person, 'GET', '/rooms')).json.rooms as { slug: string; state: string }[];
const crewIn = async (slug: string) =>
  (await world.store.rooms.members(slug))
    .filter(({ kind, present }) => kind === 'agent' && present)
    .map(({ name, roles }) => [name, roles]);

test('a pull request that opens opens a room with recipe, crew and Barista, and the delivery says so', async () => {
  const olga = await owner({ recipe: 'build_duel', barista: true });
  const { opened } = await comes('opened');
  const [room, ...others] = await roomsOf(olga);
  expect([opened, others]).toEqual([[room!.slug], []]);
  expect(await crewIn(room!.slug)).toEqual([
    ['ana', ['author']],
    ['bo', ['lead', 'reviewer']],
  ]);
  const state = (await world.store.rooms.state(room!.slug))!;
  expect([state.recipe, state.barista.enabled, state.pullRequest.key]).toEqual(['build_duel', true, pullRequest.key]);
  const [first] = (await world.store.messages.list(room!.slug, 0)).messages;
  expect(first!.text).toBe(`room opened by itself for ${pullRequest.url} (build_duel, Barista runs it)`);
  await off(olga);
});

test('P4: deliveries that come again, together, late or after the room was archived never make a second', async () => {
  const olga = await owner();
  const id = randomUUID();
  await Promise.all([comes('opened', id), comes('labeled'), comes('reopened'), comes('edited')]);
  const rooms = await roomsOf(olga);
  expect(rooms).toHaveLength(1);
  const slug = rooms[0]!.slug;
  expect((await crewIn(slug)).map(([name]) => name)).toEqual(['ana', 'bo']);
  await world.rest(olga.person, 'POST', `/rooms/${slug}/archive`);
  expect((await comes('reopened')).opened).toEqual([]);
  expect(await roomsOf(olga)).toHaveLength(1);
  await off(olga);
});

test('nobody who had a room of it, opened by hand, gets another', async () => {
  const olga = await owner();
  await world.rest(olga.person, 'POST', '/rooms', { pull_request: world.github.pullRequest, barista: false });
  expect((await comes('opened')).opened).toEqual([]);
  const [room, ...others] = await roomsOf(olga);
  expect([others, await crewIn(room!.slug)]).toEqual([[], []]);
  await off(olga);
});

test('a draft opens none until it is ready, and a label is waited for', async () => {
  const { pull } = world.github;
  const [olga, kim] = [await owner(), await owner({ label: 'Review me' })];
  pull.draft = true;
  expect((await comes('opened')).opened).toEqual([]);
  pull.draft = false;
  expect((await comes('ready_for_review')).opened).toEqual([(await roomsOf(olga))[0]!.slug]);
  expect(await roomsOf(kim)).toEqual([]);
  pull.labels.push('review me');
  expect((await comes('labeled')).opened).toEqual([(await roomsOf(kim))[0]!.slug]);
  expect(await roomsOf(olga)).toHaveLength(1);
  pull.labels.length = 0;
  await Promise.all([off(olga), off(kim)]);
});

test('a pull request that only changed opens none, unless it carries a label that is waited for', async () => {
  const [olga, kim] = [await owner(), await owner({ label: 'Review me' })];
  expect((await comes('edited')).opened).toEqual([]);
  world.github.pull.labels.push('another');
  expect((await comes('labeled')).opened).toEqual([]);
  world.github.pull.labels.push('review me');
  expect((await comes('edited')).opened).toEqual([(await roomsOf(kim))[0]!.slug]);
  expect(await roomsOf(olga)).toEqual([]);
  world.github.pull.labels.length = 0;
  await Promise.all([off(olga), off(kim)]);
});

test('R11: an owner opens no room on a repository that is not linked to it', async () => {
  const olga = await owner({}, { linked: false });
  expect((await comes('opened')).opened).toEqual([]);
  expect(await roomsOf(olga)).toEqual([]);
  await off(olga);
});

test('an agent that was deleted is left out', async () => {
  const olga = await owner();
  await world.rest(olga.person, 'DELETE', `/agents/${olga.crew[0]!.id}`);
  await comes('opened');
  const [room] = await roomsOf(olga);
  expect((await crewIn(room!.slug)).map(([name]) => name)).toEqual(['bo']);
  await off(olga);
});

describe('a room that opens late, for its forge was away or another delivery came before, opens on what is so now', () => {
  const openLate = async (olga: Owner) =>
    activities().openAutomaticRoom({ delivery: { forge: 'github', id: randomUUID() }, owner: olga.person.id, pullRequest });

  test('P5: none of a pull request that was closed or merged since, became a draft again, or lost its label', async () => {
    const { pull } = world.github;
    const olga = await owner({ label: 'Review me' });
    const refused = async (why: string) =>
      expect(await openLate(olga)).toEqual({ slug: null, why: `none opened for @${olga.person.name}: ${why}` });
    await refused('it no longer carries the label Review me');
    pull.labels.push('review me');
    pull.draft = true;
    await refused('the pull request is a draft');
    pull.draft = false;
    pull.state = 'closed';
    await refused('the pull request is closed');
    expect(await roomsOf(olga)).toEqual([]);
    pull.state = 'open';
    const { slug } = await openLate(olga);
    expect(slug).toBe((await roomsOf(olga))[0]!.slug);
    pull.labels.length = 0;
    await off(olga);
  });

  test('R8: two deliveries on two servers at once open one; archived since, none comes in its place', async () => {
    const olga = await owner();
    const answers = await Promise.all([openLate(olga), openLate(olga), openLate(olga)]);
    const [room, ...others] = await roomsOf(olga);
    expect(others).toEqual([]);
    expect(answers.filter(({ slug }) => slug !== null)).toMatchObject([{ slug: room!.slug }]);
    expect((await crewIn(room!.slug)).map(([name]) => name)).toEqual(['ana', 'bo']);
    await world.rest(olga.person, 'POST', `/rooms/${room!.slug}/archive`);
    expect(await openLate(olga)).toEqual({ slug: null, why: `@${olga.person.name} has, or had, room \`${room!.slug}\` of it` });
    expect(await roomsOf(olga)).toHaveLength(1);
    await off(olga);
  });

  test('R11: none where the repository was unlinked since', async () => {
    const olga = await owner();
    await world.store.accounts.unlinkRepository(olga.person.id, pullRequest.forge, pullRequest.repository);
    expect((await openLate(olga)).slug).toBeNull();
    expect(await roomsOf(olga)).toEqual([]);
    await off(olga);
  });
});

describe('a delivery that died between opening the room and adding its crew', () => {
  test('goes on where it stopped when it comes again; another one does not', async () => {
    const olga = await owner();
    const id = randomUUID();
    // It dies with the second of the crew.
    const { openAutomaticRoom } = activities((whole) => ({
      ...whole,
      async send(slug, command) {
        if (command.type === 'join' && command.participant.name === 'bo') throw new Error('the worker dies');
        return whole.send(slug, command);
      },
    }));
    await expect(openAutomaticRoom({ delivery: { forge: 'github', id }, owner: olga.person.id, pullRequest })).rejects.toThrow('dies');
    const [room] = await roomsOf(olga);
    expect((await crewIn(room!.slug)).map(([name]) => name)).toEqual(['ana']);
    expect((await comes('labeled')).opened).toEqual([]);
    expect((await crewIn(room!.slug)).map(([name]) => name)).toEqual(['ana']);
    expect((await comes('opened', id)).opened).toEqual([room!.slug]);
    expect((await crewIn(room!.slug)).map(([name]) => name)).toEqual(['ana', 'bo']);
    expect(await roomsOf(olga)).toHaveLength(1);
    await off(olga);
  });

  test('who has left since is not added again, nor a crew that was set later', async () => {
    const olga = await owner();
    const id = randomUUID();
    const { opened } = await comes('opened', id);
    const [slug] = opened;
    await world.ok(olga.crew[0]!, 'leave_room', { room: slug! });
    const cy = await addAgent(world.store, olga.person.id, 'cy');
    const { forge, repository, url } = pullRequest;
    const automatic: AutomaticRooms = { recipe: 'panel', crew: [cy.id], barista: false, label: null };
    await world.store.repositories.keep(olga.person.id, { forge, repository, url }, { automatic, postAs: null, commentInstead: false });
    expect((await comes('reopened')).opened).toEqual([]);
    expect((await crewIn(slug!)).map(([name]) => name)).toEqual(['bo']);
    await off(olga);
  });
});
