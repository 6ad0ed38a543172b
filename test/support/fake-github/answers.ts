/** What a route answers. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ok = (body: unknown, status = 200): Answer => ({ status, body });
export const notFound = (message = 'Not Found'): Answer => ({
  status: 404,
  body: { message, documentation_url: 'https://docs.github.com/rest', status: '404' },
});
export const invalid = (errors: readonly unknown[], message = 'Unprocessable Entity'): Answer => ({
  status: 422,
  body: { message, errors, documentation_url: 'https://docs.github.com/rest' },
});

/** One request to a route, its path taken apart. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Record<string, unknown>;
}

/** One page of a listing, with the link header that names the next. */
export function page<T>(
  asked: Asked,
  all: readonly T[],
  url: string,
): { readonly items: readonly T[]; readonly headers: Record<string, string> } {
  const size = Math.min(100, Number(asked.query.get('per_page') ?? 30));
  const number = Number(asked.query.get('page') ?? 1);
  const items = all.slice((number - 1) * size, number * size);
  const query = new URLSearchParams(asked.query);
  query.set('page', String(number + 1));
  const more = number * size < all.length;
  return { items, headers: more ? { link: `<${url}${asked.path}?${query.toString()}>; rel="next"` } : {} };
}
