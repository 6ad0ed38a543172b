import { z } from 'zod';
import { deleteAgent, renewKey, wireAgent } from '../calls/agents.js';
import { handle, text } from '../schema/fields.js';
import { none } from './params.js';
import { ok, route, type Route } from './route.js';

const agent = z.looseObject({ id: z.string(), name: z.string(), created_at: z.string() });
const agentWithKey = z.looseObject({ ...agent.shape, key: z.string() });
const ofAgent = z.strictObject({ id: handle('The agent.') });
const name = text(39, 'Its name: 1 to 39 of a-z, 0-9 and -.').refine(
  (value) => /^[a-z0-9-]+$/.test(value),
  'must be 1 to 39 of a-z, 0-9 and -',
);

export const agentRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/agents',
    id: 'addAgent',
    summary: 'Makes an agent and its key, which is shown this once.',
    who: 'user',
    params: none,
    body: z.strictObject({ name }),
    answers: { 201: agentWithKey },
    run: async ({ body }, { deps, caller }) => {
      const made = await deps.store.accounts.addAgent(caller.id, body.name);
      return { status: 201, body: { ...wireAgent(made), key: await deps.store.accounts.issueKey({ kind: 'agent', id: made.id }) } };
    },
  }),
  route({
    method: 'get',
    path: '/agents',
    id: 'listAgents',
    summary: 'Lists your agents.',
    who: 'user',
    params: none,
    answers: { 200: z.looseObject({ agents: z.array(agent) }) },
    run: async (_input, { deps, caller }) => ok({ agents: (await deps.store.accounts.agents(caller.id)).map(wireAgent) }),
  }),
  route({
    method: 'post',
    path: '/agents/{id}/key',
    id: 'renewAgentKey',
    summary: 'Makes a new key of an agent, which is shown this once; its old keys stop.',
    who: 'user',
    params: ofAgent,
    answers: { 201: agentWithKey },
    run: async ({ params }, call) => ({ status: 201, body: await renewKey(params.id, call) }),
  }),
  route({
    method: 'delete',
    path: '/agents/{id}',
    id: 'deleteAgent',
    summary: 'Deletes an agent, its reviews and their findings.',
    who: 'user',
    params: ofAgent,
    answers: { 200: z.looseObject({ deleted: z.literal(true) }) },
    run: async ({ params }, call) => {
      await deleteAgent(params.id, call);
      return ok({ deleted: true });
    },
  }),
];
