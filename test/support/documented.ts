import { ROUTES } from '../../mcp-server/rest/routes.js';

/**
 * Holds a real answer of a REST call (`path` below /api/v1) to what /openapi.json says of it.
 * @throws Error naming the call, where its status or its body is not described so
 */
export function holdToDescription(method: string, path: string, status: number, json: unknown): void {
  if (status >= 400) return; // a refusal: one form for all, described apart
  const route = ROUTES.find((one) => one.method === method.toLowerCase() && templateOf(one.path).test(path.split('?')[0]!));
  if (route === undefined) return; // no such call: the test is about that
  const schema = route.answers[status];
  if (schema === undefined) throw new Error(`${method} ${path} answered ${status}, which /openapi.json does not have`);
  const checked = schema?.safeParse(json);
  if (checked?.success === false) throw new Error(`${method} ${path} is not as /openapi.json says: ${checked.error.message}`);
}

const templateOf = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
