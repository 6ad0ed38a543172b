// Deliveries as the forges send them: their own examples, with what a test says in it, signed.
import { createHmac, randomUUID } from 'node:crypto';
import examples from '@octokit/webhooks-examples';
import type { FakeGitHub } from './fake-github/index.js';
import type { FakeGitLab } from './fake-gitlab/index.js';

export const GITHUB_SECRET = 'a-secret-of-the-app';
export const GITLAB_SECRET = 'a-secret-of-the-hook';

export interface Webhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export type Payload = Readonly<Record<string, unknown>>;

export function exampleOf(event: string, fits: (payload: Payload) => boolean = () => true): Payload {
  const found = examplesOf(event).find(fits);
  if (found === undefined) throw new Error(`GitHub publishes no such example of ${event}`);
  return found;
}

export const examplesOf = (event: string): readonly Payload[] =>
  (examples as unknown as { name: string; examples: Payload[] }[]).find(({ name }) => name === event)?.examples ?? [];

export function githubWebhook(
  event: string,
  payload: unknown,
  { id = randomUUID(), secret = GITHUB_SECRET }: { id?: string; secret?: string } = {},
): Webhook {
  const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${signature}`,
    },
    body,
  };
}

/** What GitHub would send of its one pull request as it is now; `headSha`: as it was. Of an edit it publishes no example. */
export function pullRequestEvent({ repo, pull, headSha: now }: FakeGitHub, action: string, { headSha = now } = {}): Payload {
  const example = exampleOf('pull_request', (payload) => payload.action === (action === 'edited' ? 'opened' : action)) as {
    pull_request: Record<string, unknown> & { head: object };
    repository: Record<string, unknown> & { owner: object };
  };
  const labels = pull.labels.map((name) => ({ name }));
  return {
    ...example,
    action,
    number: pull.number,
    pull_request: {
      ...example.pull_request,
      number: pull.number,
      draft: pull.draft,
      merged: pull.merged,
      state: pull.state,
      labels,
      head: { ...example.pull_request.head, sha: headSha },
    },
    repository: { ...example.repository, id: repo.id, name: repo.name, owner: { ...example.repository.owner, login: repo.owner } },
  };
}

export function gitlabWebhook(
  payload: unknown,
  { id = randomUUID(), secret = GITLAB_SECRET }: { id?: string; secret?: string } = {},
): Webhook {
  return {
    headers: { 'content-type': 'application/json', 'x-gitlab-token': secret, 'idempotency-key': id },
    body: typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
  };
}

/** What GitLab would send of its one merge request as it is now. */
export function mergeRequestEvent(
  { state }: FakeGitLab,
  action: string,
  more: { oldrev?: string; headSha?: string; changes?: object } = {},
) {
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    project: { id: state.projectId, path_with_namespace: state.projectPath },
    object_attributes: {
      iid: state.iid,
      target_project_id: state.projectId,
      source_project_id: state.projectId,
      title: state.title,
      state: state.stateName,
      draft: state.draft,
      action,
      target: { path_with_namespace: state.projectPath },
      last_commit: { id: more.headSha ?? state.headSha },
      ...(more.oldrev !== undefined && { oldrev: more.oldrev }),
    },
    labels: state.labels.map((title) => ({ title })),
    changes: more.changes ?? {},
  };
}

export function deliver(serverUrl: string, forge: 'github' | 'gitlab', { headers, body }: Webhook): Promise<Response> {
  return fetch(`${serverUrl}/webhooks/${forge}`, { method: 'POST', headers, body });
}
