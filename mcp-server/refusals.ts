import { ForgeError } from '../activities/forge/port.js';
import { Refusal, type RefusalFacts } from '../workflows/room/refusal.js';
import type { RefusalCode } from '../workflows/room/words.js';
import { InvalidInput, type WrongField } from './schema/check.js';
import type { Logger } from 'pino';

/** A refusal as it goes over the wire, by tool or REST. */
export interface WireRefusal extends RefusalFacts {
  readonly fields?: readonly WrongField[];
}

/** Seconds after which a caller of something that is away may ask again. */
export const RETRY_AFTER_SECONDS = 2;

/** How much of a refusal's message is sent; clients show about 10 000 characters of the whole. */
const MESSAGE_LIMIT = 4_000;
const FIELDS_LIMIT = 40;
const FIELD_MESSAGE_LIMIT = 60;

/**
 * What a failed call is answered with. Anything that is not a refusal is logged whole and answered as `unavailable`
 * in our own words: nobody outside is shown a stack trace, a query or an address.
 */
export function refusalOf(error: unknown, log: Logger): WireRefusal {
  if (error instanceof ForgeError) return refusalOfForge(error);
  if (!(error instanceof Refusal)) {
    log.error({ err: error }, 'a call failed');
    return {
      code: 'unavailable',
      message: 'Barista could not do this just now. It may have been stored; the same call again is safe.',
      hint: `Repeat the same call in ${RETRY_AFTER_SECONDS} seconds.`,
    };
  }
  return {
    code: error.code,
    message: cut(error.message, MESSAGE_LIMIT),
    ...(error.hint === undefined ? {} : { hint: cut(error.hint, 1_000) }),
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error instanceof InvalidInput && error.fields.length > 1
      ? {
          fields: error.fields
            .slice(0, FIELDS_LIMIT)
            .map(({ field, message }) => ({ field: cut(field, 40), message: cut(message, FIELD_MESSAGE_LIMIT) })),
        }
      : {}),
  };
}

function refusalOfForge({ kind, message, retryAfter }: ForgeError): WireRefusal {
  switch (kind) {
    case 'unavailable':
      return {
        code: 'forge_unavailable',
        message: cut(message, MESSAGE_LIMIT),
        hint: `Repeat the same call in ${retryAfter ?? 30} seconds.`,
      };
    case 'refused':
      return {
        code: 'forge_unavailable',
        message: cut(message, MESSAGE_LIMIT),
        hint: "Repeating the call will not help: the room's owner or the operator must change something.",
      };
    case 'not_found':
      return { code: 'not_found', message: cut(message, MESSAGE_LIMIT) };
    case 'invalid':
      return { code: 'invalid', message: cut(message, MESSAGE_LIMIT) };
  }
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** The HTTP status of each refusal: who must act decides the class. */
function statusOf(code: RefusalCode): 400 | 403 | 404 | 409 | 502 | 503 {
  switch (code) {
    case 'invalid':
      return 400;
    case 'not_a_member':
    case 'role_required':
      return 403;
    case 'not_found':
      return 404;
    case 'no_open_round':
    case 'round_open':
    case 'round_closed':
    case 'room_closed':
    case 'frozen':
    case 'settled':
    case 'head_not_moved':
    case 'reviews_missing':
    case 'too_soon':
    case 'conflict':
    case 'answered':
    case 'posted':
      return 409;
    case 'forge_unavailable':
      return 502;
    case 'unavailable':
      return 503;
  }
}

const TITLES: Record<number, string> = {
  400: 'The request is not valid',
  401: 'The key is missing or wrong',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Not possible as things stand',
  413: 'The request is too large',
  502: 'The forge could not be reached',
  503: 'Not available just now',
};

/** An error answer of the HTTP edge, as problem details (RFC 9457). */
export function problem(
  status: number,
  body: { code: string; detail: string } & Record<string, unknown>,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify({ type: 'about:blank', title: TITLES[status] ?? 'Error', status, ...body }), {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers },
  });
}

export function problemOf(refusal: WireRefusal): Response {
  const { message, ...rest } = refusal;
  const status = statusOf(refusal.code);
  return problem(status, { ...rest, detail: message }, status === 503 ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : {});
}
