import type { z } from 'zod';
import type { Call } from '../deps.js';

/** One REST call: its schemas check it, answer it in OpenAPI, and nothing else does either. */
interface RouteSpec<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodObject> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below `/api/v1`, with parameters as `{slug}`. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** `user`: a user key; `owner`: the user whose room it is; `member`: whoever is in the room. */
  readonly who: 'user' | 'owner' | 'member';
  readonly params: P;
  readonly query?: Q;
  readonly body?: B;
  /** Answers by status, the usual one first. Null: an answer without a JSON body. */
  readonly answers: Readonly<Record<number, z.ZodObject | null>>;
  readonly run: (input: RouteInput<P, Q, B>, call: RestCall) => Promise<RouteResult | Response>;
}

interface RouteInput<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodObject> {
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
}

interface RestCall extends Call {
  /** Header of the request, by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

interface RouteResult {
  readonly status: number;
  readonly body: object;
}

export interface Route extends Omit<RouteSpec<z.ZodObject, z.ZodObject, z.ZodObject>, 'run'> {
  readonly run: (input: never, call: RestCall) => Promise<RouteResult | Response>;
}

export function route<P extends z.ZodObject, Q extends z.ZodObject = z.ZodObject, B extends z.ZodObject = z.ZodObject>(
  spec: RouteSpec<P, Q, B>,
): Route {
  return spec;
}

export const ok = (body: object): RouteResult => ({ status: 200, body });
