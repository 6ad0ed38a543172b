import type { ProjectHookSchema } from '@gitbeaker/core';
import type { Answer } from './routes.js';

type Shown = Pick<
  ProjectHookSchema,
  'id' | 'url' | 'push_events' | 'merge_requests_events' | 'pipeline_events' | 'enable_ssl_verification' | 'created_at' | 'alert_status'
>;

export interface FakeHook extends Shown {
  disabled_until?: string | null;
  /** GitLab shows it to nobody. */
  token: string | null;
}

/** The webhooks of the project, as its maintainers and this API make them. */
export class FakeHooks {
  readonly list: FakeHook[] = [];
  /** Whether the token's owner is a maintainer. */
  allowed = true;
  #nextId = 500;

  /** Made in GitLab's own pages. */
  add(url: string, token: string | null = null): FakeHook {
    const made = {
      id: this.#nextId++,
      url,
      push_events: true,
      merge_requests_events: false,
      pipeline_events: false,
      enable_ssl_verification: true,
      created_at: '2030-01-07T12:00:00.000Z',
      disabled_until: null,
      alert_status: 'executable',
      token,
    };
    this.list.push(made);
    return made;
  }

  /** Below `/projects/ID/hooks`. */
  answer(method: string, id: string | undefined, { token, ...body }: Record<string, unknown>): Answer {
    if (!this.allowed) return { status: 403, body: { message: '403 Forbidden' } };
    const asked = this.list.find((hook) => String(hook.id) === id);
    if (id === undefined && method === 'GET') return { status: 200, body: this.list.map(shown) };
    if (id === undefined && method === 'POST') return { status: 201, body: shown(this.#edit(this.add(String(body['url'])), token, body)) };
    if (asked === undefined) return { status: 404, body: { message: '404 Not Found' } };
    if (method === 'PUT') return { status: 200, body: shown(this.#edit(asked, token, body)) };
    if (method !== 'DELETE') return { status: 200, body: shown(asked) };
    this.list.splice(this.list.indexOf(asked), 1);
    return { status: 204 };
  }

  #edit(hook: FakeHook, token: unknown, body: Record<string, unknown>): FakeHook {
    // A new address has no token until it is given one again.
    if (body['url'] !== hook.url) hook.token = null;
    return Object.assign(hook, body, token === undefined ? {} : { token });
  }
}

function shown({ token: _, ...rest }: FakeHook): Shown {
  return rest;
}
