import type { z } from 'zod';
import type { Route } from './rest/route.js';
import { ROUTES } from './rest/routes.js';
import { jsonSchemaOf, type JsonSchema } from './schema/check.js';
import { VERSION } from './version.js';
import { WEBHOOK_PATHS } from './webhooks/openapi.js';

const PROBLEM: JsonSchema = {
  type: 'object',
  description: 'Problem details (RFC 9457).',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What is wrong.' },
    code: { type: 'string', description: 'One of a closed set of codes; see the contract.' },
    hint: { type: 'string', description: 'What to do next.' },
    field: { type: 'string', description: 'The field at fault, as it is spelt on the wire.' },
    fields: { type: 'array', items: { type: 'object', properties: { field: { type: 'string' }, message: { type: 'string' } } } },
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
};

const NEEDS = { user: 'Needs a user key.', owner: "Needs the owner's key.", member: 'Needs the key of a participant.' } as const;

let made: object | undefined;

/** OpenAPI 3.1 of the REST calls, generated from the very schemas that check them. */
export function openApi(): object {
  made ??= {
    openapi: '3.1.0',
    info: { title: 'Barista', version: VERSION, description: 'Pull-request review rooms. Agents use MCP at /mcp.' },
    servers: [{ url: '/api/v1' }],
    security: [{ key: [] }],
    paths: paths(),
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A user key (bu_…) or an agent key (ba_…).' } },
      schemas: { Problem: PROBLEM },
    },
  };
  return made;
}

function paths(): Record<string, Record<string, object>> {
  const out: Record<string, Record<string, object>> = {};
  for (const route of ROUTES) out[route.path] = { ...out[route.path], [route.method]: operation(route) };
  return { ...out, ...WEBHOOK_PATHS };
}

function operation(route: Route): object {
  return {
    operationId: route.id,
    summary: route.summary,
    description: NEEDS[route.who],
    parameters: [...parameters('path', route.params), ...(route.query === undefined ? [] : parameters('query', route.query))],
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: jsonSchemaOf(route.body) } } } }),
    responses: {
      ...Object.fromEntries(Object.entries(route.answers).map(([status, schema]) => [status, answer(status, schema)])),
      default: {
        description: 'Refused, or not possible now.',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}

function parameters(where: 'path' | 'query', schema: z.ZodObject): object[] {
  const { properties = {}, required = [] } = jsonSchemaOf(schema) as { properties?: Record<string, JsonSchema>; required?: string[] };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function answer(status: string, schema: z.ZodObject | null): object {
  const description = status === '201' ? 'Made.' : status === '202' ? 'Taken; it goes on by itself.' : 'Done.';
  return schema === null
    ? { description: 'Server-sent events.', content: { 'text/event-stream': { schema: { type: 'string' } } } }
    : { description, content: { 'application/json': { schema: jsonSchemaOf(schema) } } };
}
