/** The part of a JSON schema that says how a mangled argument was meant. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly [key: string]: unknown;
}

const NULL = 'null';
const takesNull = (schema: JsonSchema): boolean => schema.anyOf?.some(({ type }) => type === NULL) ?? false;

/** What a field takes besides null. */
export function beside(schema: JsonSchema): JsonSchema {
  return takesNull(schema) ? (schema.anyOf?.find(({ type }) => type !== NULL) ?? schema) : schema;
}

const PARSED = new Set(['array', 'object', 'number', 'integer', 'boolean']);

/**
 * Arguments as the client meant them: clients send arrays, objects, numbers and booleans as JSON strings, and `null`
 * for an absent field, where null is not a value of its own. What cannot be read so is left as it is for the schema to
 * refuse by name.
 */
export function lenient(nullable: JsonSchema, value: unknown): unknown {
  const schema = beside(nullable);
  const meant = typeof value === 'string' && PARSED.has(String(schema.type)) ? parsed(value, String(schema.type)) : value;
  if (Array.isArray(meant)) {
    const items = schema.items;
    return items === undefined ? meant : meant.map((item) => lenient(items, item));
  }
  if (meant === null || typeof meant !== 'object') return meant;
  const entries: [string, unknown][] = [];
  for (const [key, entry] of Object.entries(meant)) {
    const inner = own(schema.properties, key) ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {});
    if (entry === null && !takesNull(inner)) continue;
    entries.push([key, lenient(inner, entry)]);
  }
  return Object.fromEntries(entries);
}

function own(properties: JsonSchema['properties'], key: string): JsonSchema | undefined {
  return properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

function parsed(text: string, type: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const is = Array.isArray(value) ? 'array' : typeof value;
  return is === type || (is === 'number' && type === 'integer') ? value : text;
}
