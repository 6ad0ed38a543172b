import { describe, expect, test } from 'vitest';
import { openApi } from '../../mcp-server/openapi.js';
import { ROUTES } from '../../mcp-server/rest/routes.js';
import { jsonSchemaOf } from '../../mcp-server/schema/check.js';

interface Operation {
  operationId: string;
  summary: string;
  parameters: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { description: string; content: Record<string, { schema: object }> }>;
}
const api = openApi() as {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
const operationOf = (method: string, path: string) => api.paths[path]?.[method];

test('the REST calls of the contract, and nothing else', () => {
  const calls = Object.entries(api.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(calls.sort()).toEqual(
    [
      'POST /rooms',
      'GET /rooms',
      'GET /rooms/{slug}',
      'POST /rooms/{slug}/archive',
      'POST /rooms/{slug}/review/final-draft',
      'POST /agents',
      'GET /agents',
      'POST /agents/{id}/key',
      'DELETE /agents/{id}',
      'POST /rooms/{slug}/agents',
      'POST /rooms/{slug}/people',
      'PATCH /rooms/{slug}/review/recipe',
      'PUT /rooms/{slug}/review/roles',
      'PATCH /rooms/{slug}/review/barista',
      'GET /rooms/{slug}/review/draft',
      'PUT /rooms/{slug}/review/draft',
      'POST /rooms/{slug}/review/draft/post',
      'GET /rooms/{slug}/review/rounds',
      'GET /rooms/{slug}/review/rounds/{n}',
      'GET /rooms/{slug}/messages',
      'POST /rooms/{slug}/messages',
      'GET /rooms/{slug}/events',
      'GET /alerts',
      'POST /webhooks/github',
      'POST /webhooks/gitlab',
      'GET /repositories',
      'PUT /repositories',
    ].sort(),
  );
});

test('every operation has an id of its own', () => {
  const ids = ROUTES.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('it is OpenAPI 3.1, and every reference in it leads somewhere', () => {
  expect(api.openapi).toBe('3.1.0');
  for (const [, name] of JSON.stringify(api).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    expect(api.components.schemas).toHaveProperty(name!);
});

describe.each(ROUTES)('$method $path', (route) => {
  const operation = operationOf(route.method, route.path)!;

  test('is described by the very schemas that check it', () => {
    expect(operation.operationId).toBe(route.id);
    expect(operation.summary).toMatch(/\S/);
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
    expect(inPath.map(({ name }) => name)).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    expect(inPath.map(({ name }) => name)).toEqual(Object.keys(route.params.shape));
    expect(operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)).toEqual(
      Object.keys(route.query?.shape ?? {}),
    );
    expect(operation.requestBody?.content['application/json']?.schema).toEqual(route.body && jsonSchemaOf(route.body));
    for (const [status, schema] of Object.entries(route.answers)) {
      const described = operation.responses[status]!;
      if (schema === null) expect(described.content).toHaveProperty('text/event-stream');
      else expect(described.content['application/json']!.schema).toEqual(jsonSchemaOf(schema));
    }
    expect(operation.responses.default!.content).toHaveProperty('application/problem+json');
  });

  test('lets nothing unknown in', () => {
    for (const schema of [route.params, route.query, route.body]) if (schema) expect(jsonSchemaOf(schema).additionalProperties).toBe(false);
  });
});
