import type { JsonSchema } from '../schema/check.js';

const TAKEN: JsonSchema = {
  type: 'object',
  properties: {
    delivery: { type: 'string', description: 'The workflow that goes on with it: delivery/FORGE/ID.' },
    ignored: { type: 'string', description: 'Why nothing is done with it.' },
    done: { type: 'boolean', description: 'true: it came before, and what it asked for is done.' },
  },
  required: ['delivery'],
};

/** The calls that forges make. They stand at the root, beside `/api/v1`, and need no key but their signature. */
export const WEBHOOK_PATHS = Object.fromEntries(
  [
    { path: '/webhooks/github', id: 'takeGitHubDelivery', name: 'GitHub', signed: 'X-Hub-Signature-256 over the body as sent.' },
    {
      path: '/webhooks/gitlab',
      id: 'takeGitLabDelivery',
      name: 'GitLab',
      signed: 'X-Gitlab-Token, or webhook-signature over the body as sent where the server has a signing key.',
    },
  ].map(({ path, id, name, signed }) => [
    path,
    {
      post: {
        operationId: id,
        summary: `Takes a delivery of ${name}.`,
        description: `Needs ${signed} At most 25 MB.`,
        servers: [{ url: '/' }],
        security: [],
        parameters: [],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'object', description: `As ${name} sends it.` } } },
        },
        responses: {
          202: { description: 'Taken; it goes on by itself.', content: { 'application/json': { schema: TAKEN } } },
          200: { description: 'It came before and is done.', content: { 'application/json': { schema: TAKEN } } },
          default: {
            description: 'Refused (401: the signature), or not possible now (503: send it again).',
            content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
          },
        },
      },
    },
  ]),
);
