import { createHash } from 'node:crypto';
import type {
  CommitSchema,
  DiffRefsSchema,
  ExpandedMergeRequestSchema,
  MergeRequestDiffSchema,
  MergeRequestDiffVersionsSchema,
  MergeRequestNoteSchema,
  PipelineSchema,
  ProjectSchema,
  RepositoryCompareSchema,
  RepositoryTreeSchema,
} from '@gitbeaker/core';
import { blob, exists, hasLine, mergeBase, rawDiff, rows, tree, type Row } from './git-views.js';
import { REVIEWER, type FakeNote, type FakePipeline, type GitLabState } from './state.js';

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Only these fields of the published shapes are served; each is held to its type there. */
type Part<T, K extends keyof T> = Pick<T, K>;
const AT = '2030-01-07T12:00:00.000Z';

const ok = (body: unknown, headers?: Readonly<Record<string, string>>): Answer => ({ status: 200, body, ...(headers ? { headers } : {}) });
const notFound = (what = 'Not found'): Answer => ({ status: 404, body: { message: `404 ${what}` } });
const badRequest = (why: string): Answer => ({ status: 400, body: { message: why } });

/** `path` is escaped as it came: an unescaped slash in a name is another path, as on the real one. */
export function answerTo(state: GitLabState, method: string, path: string, query: URLSearchParams, body: Record<string, unknown>): Answer {
  if (path === '/user') return ok(REVIEWER);
  const parts = /^\/projects\/([^/]+)(\/.*)?$/.exec(path);
  if (parts === null) return notFound();
  const project = decodeURIComponent(parts[1] as string);
  if (project === state.formerPath && method !== 'POST') {
    return {
      status: 301,
      headers: { location: `${state.webUrl}/api/v4${path.replace(parts[1] as string, String(state.projectId))}?${query.toString()}` },
    };
  }
  if (project !== String(state.projectId) && project.toLowerCase() !== state.projectPath) return notFound('Project Not Found');
  const rest = parts[2] ?? '';
  if (rest === '')
    return ok({ id: state.projectId, path_with_namespace: state.projectPath } satisfies Part<ProjectSchema, 'id' | 'path_with_namespace'>);
  const mergeRequest = /^\/merge_requests\/(\d+)(\/.*)?$/.exec(rest);
  if (mergeRequest !== null) {
    if (Number(mergeRequest[1]) !== state.iid) return notFound();
    if (method === 'DELETE') return removed(state, mergeRequest[2] ?? '');
    return method === 'POST' ? written(state, mergeRequest[2] ?? '', body) : ofMergeRequest(state, mergeRequest[2] ?? '', query);
  }
  const hooks = /^\/hooks(?:\/(\d+))?$/.exec(rest);
  if (hooks !== null) return state.hooks.answer(method, hooks[1], body);
  return ofRepository(state, rest, query);
}

function ofMergeRequest(state: GitLabState, rest: string, query: URLSearchParams): Answer {
  switch (rest) {
    case '':
      return ok(mergeRequestOf(state));
    case '/diffs': {
      if (state.faults.failsAbove30APage && Number(query.get('per_page')) > 30)
        return { status: 500, body: { message: '500 Internal Server Error' } };
      const newest = state.prepare();
      return newest === null ? paged([], query, state) : paged(listed(state, newest.base ?? newest.start, newest.head), query, state);
    }
    case '/raw_diffs': {
      const newest = state.prepare();
      if (state.faults.noRawDiffs || newest === null) return notFound();
      return { status: 200, body: rawDiff(state.world, newest.base ?? newest.start, newest.head, !state.faults.shortIndex) };
    }
    case '/versions':
      state.prepare();
      return paged(
        state.versions.toReversed().map(
          ({
            id,
            head,
            base,
            start,
          }): Part<MergeRequestDiffVersionsSchema, 'id' | 'head_commit_sha' | 'start_commit_sha' | 'state'> & {
            base_commit_sha: string | null;
          } => ({
            id,
            head_commit_sha: head,
            base_commit_sha: base,
            start_commit_sha: start,
            state: 'collected',
          }),
        ),
        query,
        state,
      );
    case '/closes_issues':
      return paged(state.issues, query, state);
    case '/notes':
      return paged(state.notes.map(noteOf), query, state);
    case '/discussions': {
      const ids = [...new Set(state.notes.map((note) => note.discussion))];
      return paged(
        ids.map((id) => ({ id, individual_note: true, notes: state.notes.filter((note) => note.discussion === id).map(noteOf) })),
        query,
        state,
      );
    }
    case '/pipelines':
      return paged(
        state.pipelines.map((one) => pipelineOf(state, one)),
        query,
        state,
      );
    case '/approvals':
      return ok({
        user_has_approved: state.approvedBy.includes(REVIEWER.id),
        user_can_approve: state.canApprove && !state.approvedBy.includes(REVIEWER.id),
      });
    default:
      return notFound();
  }
}

function written(state: GitLabState, rest: string, body: Record<string, unknown>): Answer {
  switch (rest) {
    case '/notes':
      return noteTaken(state, body, null);
    case '/discussions': {
      const position = body['position'] as Record<string, unknown> | undefined;
      const wrong = position === undefined ? null : whyNoPlace(state, position);
      if (wrong !== null)
        return badRequest(`400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]} (${wrong})`);
      return noteTaken(state, body, position ?? null);
    }
    case '/approve':
      if (!state.canApprove || state.approvedBy.includes(REVIEWER.id)) return { status: 401, body: { message: '401 Unauthorized' } };
      if (body['sha'] !== undefined && body['sha'] !== state.prepare()?.head)
        return { status: 409, body: { message: 'SHA does not match HEAD of source branch' } };
      state.approvedBy.push(REVIEWER.id);
      state.approvals.push(String(body['sha']));
      return { status: 201, body: {} };
    case '/unapprove':
      state.approvedBy = state.approvedBy.filter((id) => id !== REVIEWER.id);
      return { status: 201, body: {} };
    case '/draft_notes/bulk_publish': {
      // Every draft of the user is published, and a place that was never checked fails all the same.
      for (const draft of state.draftNotes.splice(0)) state.addNote({ body: draft.note, author: REVIEWER });
      return { status: 500, body: { message: '500 Internal Server Error' } };
    }
    default:
      return notFound();
  }
}

function removed(state: GitLabState, rest: string): Answer {
  const id = Number(/^\/notes\/(\d+)$/.exec(rest)?.[1]);
  const at = state.notes.findIndex((note) => note.id === id);
  if (at < 0) return notFound('Note Not Found');
  if (state.notes[at]!.author.id !== REVIEWER.id) return { status: 403, body: { message: '403 Forbidden' } };
  state.notes.splice(at, 1);
  return { status: 204 };
}

function noteTaken(state: GitLabState, { body }: Record<string, unknown>, position: Record<string, unknown> | null): Answer {
  if (state.faults.notesBeforeLimit-- <= 0) {
    return {
      status: 429,
      headers: state.faults.limitEnds === null ? {} : { 'retry-after': state.faults.limitEnds },
      body: { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
    };
  }
  if (state.notes.filter(({ system }) => !system).length >= state.faults.notesAtMost)
    return badRequest('400 Bad request - Note {:base=>["Maximum number of comments exceeded"]}');
  const kept = String(body)
    .replaceAll('\r', '')
    .split('\n')
    .filter((line) => {
      const command = /^\s*(\/[a-z_]+)\b/i.exec(line)?.[1];
      if (command !== undefined) state.commands.push(command);
      return command === undefined;
    });
  return { status: 201, body: noteOf(state.addNote({ body: kept.join('\n').trimEnd(), author: REVIEWER, position })) };
}

/** GitLab looks the line up in its own diff of the named version; null: it is there. */
function whyNoPlace(state: GitLabState, position: Record<string, unknown>): string | null {
  const version = state.versions.find(
    ({ head, base, start }) => position['head_sha'] === head && position['base_sha'] === (base ?? start) && position['start_sha'] === start,
  );
  if (version === undefined) return 'no such version';
  const row = rows(state.world, version.base ?? version.start, version.head).find(
    (one) => one.new_path === position['new_path'] && one.old_path === position['old_path'],
  );
  if (row === undefined) return 'no such file';
  if (position['position_type'] === 'file') return null;
  const number = (value: unknown) => (typeof value === 'number' ? value : null);
  if (hasLine(row.diff, number(position['old_line']), number(position['new_line'])) === null) return 'no such line';
  const range = position['line_range'] as Record<'start' | 'end', Record<string, unknown>> | undefined;
  for (const end of range === undefined ? [] : [range.start, range.end]) {
    const found = hasLine(row.diff, number(end['old_line']), number(end['new_line']));
    const code = found === null ? null : `${createHash('sha1').update(row.new_path).digest('hex')}_${found.oldPos}_${found.newPos}`;
    if (code === null || code !== end['line_code']) return `no such line code, but ${String(code)}`;
  }
  return null;
}

function ofRepository(state: GitLabState, rest: string, query: URLSearchParams): Answer {
  const { world } = state;
  const sha = query.get('ref') ?? '';
  const file = /^\/repository\/files\/([^/]+)(\/raw)?$/.exec(rest);
  if (file !== null) {
    if (!exists(world, sha)) return notFound('Commit Not Found');
    const found = blob(world, sha, decodeURIComponent(file[1] as string));
    if (found === null) return notFound('File Not Found');
    const headers = { 'x-gitlab-size': String(found.content.length), 'x-gitlab-blob-id': found.id };
    return {
      status: 200,
      body:
        file[2] === undefined
          ? { size: found.content.length, encoding: 'base64', content: found.content.toString('base64'), blob_id: found.id }
          : found.content,
      headers,
    };
  }
  const commit = /^\/repository\/commits\/([^/]+)$/.exec(rest)?.[1];
  if (commit !== undefined) {
    if (!exists(world, commit)) return notFound('Commit Not Found');
    const parents = world.git('show', '-s', '--format=%P', commit).split(' ');
    return ok({ id: commit, parent_ids: parents.filter((id) => id !== '') } satisfies Part<CommitSchema, 'id' | 'parent_ids'>);
  }
  switch (rest) {
    case '/repository/tree': {
      const entries: RepositoryTreeSchema[] | null = exists(world, sha) ? tree(world, sha, query.get('path') ?? '') : null;
      return entries === null ? notFound('Tree Not Found') : paged(entries, query, state);
    }
    case '/repository/merge_base': {
      const [one, other] = query.getAll('refs[]') as [string, string];
      const known = [one, other].map((ref) => (exists(world, ref) ? ref : ref === world.base ? world.head(ref) : null));
      if (known.includes(null)) return badRequest(`400 Bad request - Could not find ref`);
      const id = mergeBase(world, known[0]!, known[1]!);
      return id === null ? notFound('Merge Base Not Found') : ok({ id });
    }
    case '/repository/compare':
      return compared(state, query);
    case '/pipelines':
      return paged(
        state.pipelines.filter((one) => one.project === undefined && one.sha === query.get('sha')).map((one) => pipelineOf(state, one)),
        query,
        state,
      );
    case '/pipelines/latest':
      return state.pipelines.length === 0
        ? { status: 403, body: { message: '403 Forbidden' } }
        : ok(pipelineOf(state, state.pipelines.at(-1)!));
    default:
      return notFound();
  }
}

function compared(state: GitLabState, query: URLSearchParams): Answer {
  const { world } = state;
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
  if (!exists(world, from) || !exists(world, to)) return notFound('Ref Not Found');
  const base = query.get('straight') === 'true' ? from : (mergeBase(world, from, to) ?? from);
  const ids = world
    .git('rev-list', '--reverse', to, `^${from}`)
    .split('\n')
    .filter((id) => id !== '');
  const diffs = listed(state, base, to);
  const overflow = state.faults.compareOverflow || rows(world, base, to).length > state.faults.maxFiles;
  const shown: Part<RepositoryCompareSchema, 'compare_timeout' | 'compare_same_ref'> & {
    commits: unknown[];
    diffs: MergeRequestDiffSchema[];
  } = {
    commits: ids.map((id) => ({ id })),
    diffs: (overflow ? diffs.slice(0, Math.min(diffs.length, state.faults.maxFiles)) : diffs) as unknown as MergeRequestDiffSchema[],
    compare_timeout: overflow,
    compare_same_ref: from === to,
  };
  return ok(shown);
}

/** The rows GitLab lets through, as its limits leave them. */
function listed({ world, faults }: GitLabState, base: string, head: string): Row[] {
  return rows(world, base, head)
    .slice(0, faults.maxFiles)
    .map((row) => {
      const how = faults.leftOut[row.new_path];
      return how === undefined ? row : { ...row, diff: '', collapsed: how === 'collapsed', too_large: how === 'too_large' };
    });
}

function mergeRequestOf(state: GitLabState) {
  const newest = state.prepare();
  const sha = state.headSha;
  const count = newest === null ? 0 : rows(state.world, newest.base ?? newest.start, newest.head).length;
  const refs: (Part<DiffRefsSchema, 'head_sha' | 'start_sha'> & { base_sha: string | null }) | null =
    newest === null ? null : { base_sha: newest.base, head_sha: newest.head, start_sha: newest.start };
  const shown: Part<
    ExpandedMergeRequestSchema,
    | 'iid'
    | 'project_id'
    | 'title'
    | 'state'
    | 'sha'
    | 'target_branch'
    | 'web_url'
    | 'source_project_id'
    | 'changes_count'
    | 'draft'
    | 'labels'
  > = {
    iid: state.iid,
    project_id: state.projectId,
    source_project_id: state.projectId,
    title: state.title,
    state: state.stateName,
    sha,
    target_branch: state.world.base,
    web_url: `${state.webUrl}/${state.projectPath}/-/merge_requests/${state.iid}`,
    changes_count: count > state.faults.maxFiles ? `${state.faults.maxFiles}+` : String(count),
    draft: state.draft,
    labels: state.labels,
  };
  return {
    ...shown,
    description: state.description,
    diff_refs: refs,
    head_pipeline: state.headPipeline === null ? null : pipelineOf(state, state.headPipeline),
  };
}

function noteOf({ id, body, author, system, internal, resolved, position }: FakeNote) {
  const shown: Part<MergeRequestNoteSchema, 'id' | 'body' | 'created_at' | 'updated_at' | 'system'> = {
    id,
    body,
    created_at: AT,
    updated_at: AT,
    system,
  };
  return { ...shown, author, internal, resolved, position };
}

function pipelineOf(state: GitLabState, { id, sha, status, project = state.projectId }: FakePipeline) {
  const shown: Part<PipelineSchema, 'id' | 'sha' | 'status' | 'web_url' | 'project_id' | 'ref'> = {
    id,
    sha,
    status,
    project_id: project,
    ref: state.world.topic,
    web_url: `${state.webUrl}/${state.projectPath}/-/pipelines/${id}`,
  };
  return shown;
}

function paged(items: readonly unknown[], query: URLSearchParams, { faults }: GitLabState): Answer {
  const size = Math.min(100, Number(query.get('per_page') ?? 20));
  const page = Number(query.get('page') ?? 1);
  const next = page * size < items.length ? String(page + 1) : '';
  return ok(items.slice((page - 1) * size, page * size), faults.noPagingHeaders ? {} : { 'x-next-page': next });
}
