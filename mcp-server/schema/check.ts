import { z } from 'zod';
import { Refusal } from '../../workflows/room/refusal.js';
import { beside, lenient, type JsonSchema } from './lenient.js';

export type { JsonSchema };

export interface WrongField {
  /** As it is spelt on the wire, e.g. `findings[2].line`. */
  readonly field: string;
  readonly message: string;
}

/** Refused input: names every wrong field at once, so that one more try is enough. */
export class InvalidInput extends Refusal {
  constructor(readonly fields: readonly WrongField[]) {
    super('invalid', sentence(fields), 'Nothing was stored. Put that right and send all of it again.', fields[0]?.field);
  }
}

/** How many wrong fields one refusal names; a client shows about 10 000 characters of it. */
const NAMED = 40;

function sentence(fields: readonly WrongField[]): string {
  const named = fields.slice(0, NAMED).map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
  const rest = fields.length - named.length;
  return `${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`;
}

const jsonSchemas = new WeakMap<z.ZodType, JsonSchema>();

/** What a schema accepts, as JSON schema: for the tool list, OpenAPI and {@link lenient}. Made once. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  let made = jsonSchemas.get(schema);
  if (made === undefined) {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    made = rest as JsonSchema;
    jsonSchemas.set(schema, made);
  }
  return made;
}

/**
 * The one validation of what comes from outside.
 * @throws {InvalidInput} with every wrong field.
 */
export function check<S extends z.ZodType>(schema: S, raw: unknown): z.output<S> {
  const meant = lenient(jsonSchemaOf(schema), raw ?? {});
  const result = schema.safeParse(meant);
  if (result.success) return result.data;
  throw new InvalidInput(result.error.issues.flatMap((issue) => wrongFields(issue, meant, schema)));
}

function wrongFields(issue: z.core.$ZodIssue, input: unknown, schema: z.ZodType): WrongField[] {
  const field = spelt(issue.path);
  if (issue.code !== 'unrecognized_keys') return [{ field, message: problem(issue, at(input, issue.path)) }];
  const known = Object.keys(propertiesAt(jsonSchemaOf(schema), issue.path)).join(', ') || 'none';
  return issue.keys.map((key) => ({
    field: (field === '' ? key : `${field}.${key}`).slice(0, 200),
    message: `unknown field; known are: ${known}`,
  }));
}

function problem(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined && issue.code !== 'custom') return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${article(issue.expected)}, not ${kindOf(value)}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at least ${issue.minimum} ${issue.origin === 'array' ? 'entries' : 'characters'}`
        : `must be ${issue.minimum} or more`;
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `has more than ${issue.maximum} ${issue.origin === 'array' ? 'entries' : 'characters'}`
        : `must be ${issue.maximum} or less`;
    case 'invalid_format':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return issue.message;
  }
}

function article(type: string): string {
  if (type === 'int') return 'a whole number';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return article(typeof value);
}

function spelt(path: readonly PropertyKey[]): string {
  let out = '';
  for (const part of path) out += typeof part === 'number' ? `[${part}]` : `${out === '' ? '' : '.'}${String(part)}`;
  return out.slice(0, 200);
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value;
  for (const part of path) here = (here as Record<PropertyKey, unknown> | null | undefined)?.[part];
  return here;
}

function propertiesAt(schema: JsonSchema, path: readonly PropertyKey[]): Readonly<Record<string, JsonSchema>> {
  let here: JsonSchema = schema;
  for (const part of path) here = beside((typeof part === 'number' ? here.items : here.properties?.[String(part)]) ?? {});
  return here.properties ?? {};
}
