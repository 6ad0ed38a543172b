import { z } from 'zod';

/** The parts of GitLab's answers that are read, and no more: what else changes there concerns nobody here. */

const sha = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);

export const pipeline = z.object({ id: z.number(), sha: z.string(), status: z.string(), web_url: z.string().nullish() });
export type Pipeline = z.infer<typeof pipeline>;

/** `sha` is null where the source branch has no commits of its own; `diff_refs` is made a moment after a push. */
export const mergeRequest = z.object({
  iid: z.number(),
  project_id: z.number(),
  source_project_id: z.number().nullish(),
  title: z.string(),
  description: z.string().nullish(),
  state: z.enum(['opened', 'closed', 'merged', 'locked']),
  sha: sha.nullish(),
  target_branch: z.string(),
  draft: z.boolean().nullish(),
  labels: z.array(z.string()).nullish(),
  web_url: z.string(),
  changes_count: z.string().nullish(),
  diff_refs: z.object({ base_sha: sha.nullish(), start_sha: sha.nullish(), head_sha: sha.nullish() }).nullish(),
  head_pipeline: pipeline.nullish(),
});
export type MergeRequest = z.infer<typeof mergeRequest>;

export const project = z.object({ id: z.number(), path_with_namespace: z.string() });

/** Its secret token is never shown. `alert_status`: `executable`, `temporarily_disabled` or `disabled`. */
export const hook = z.object({
  id: z.number(),
  url: z.string(),
  merge_requests_events: z.boolean().nullish(),
  pipeline_events: z.boolean().nullish(),
  alert_status: z.string().nullish(),
  disabled_until: z.string().nullish(),
});

/** GitLab's own issues; those of another tracker have an `id` as text and a title. */
export const closedIssue = z.object({
  id: z.union([z.number(), z.string()]),
  iid: z.number().optional(),
  project_id: z.number().optional(),
  references: z.object({ full: z.string() }).nullish(),
  title: z.string(),
  description: z.string().nullish(),
  web_url: z.string().optional(),
  confidential: z.boolean().nullish(),
});

const rangeEnd = z.object({ old_line: z.number().nullish(), new_line: z.number().nullish() });

const position = z.object({
  new_path: z.string().nullish(),
  old_path: z.string().nullish(),
  new_line: z.number().nullish(),
  old_line: z.number().nullish(),
  line_range: z.object({ start: rangeEnd.nullish() }).nullish(),
});

export const note = z.object({
  id: z.number(),
  body: z.string(),
  author: z.object({ id: z.number(), username: z.string() }),
  created_at: z.string(),
  system: z.boolean(),
  internal: z.boolean().nullish(),
  resolved: z.boolean().nullish(),
  position: position.nullish(),
});
export type Note = z.infer<typeof note>;

export const discussion = z.object({ id: z.string(), notes: z.array(note) });

export const user = z.object({ id: z.number() });

export const approvals = z.object({ user_has_approved: z.boolean().nullish(), user_can_approve: z.boolean().nullish() });

/** Without a merge base (histories that share nothing) the base branch itself, its start, stands in for it. */
export const version = z.object({ id: z.number(), head_commit_sha: sha, base_commit_sha: sha.nullish(), start_commit_sha: sha });
export type Version = z.infer<typeof version>;

export const diffRow = z.object({
  diff: z.string(),
  new_path: z.string(),
  old_path: z.string(),
  a_mode: z.string(),
  b_mode: z.string(),
  new_file: z.boolean(),
  renamed_file: z.boolean(),
  deleted_file: z.boolean(),
  collapsed: z.boolean().nullish(),
  too_large: z.boolean().nullish(),
});
export type DiffRow = z.infer<typeof diffRow>;

/** `compare_timeout` says that the listing is not whole, not that it might be later. */
export const comparison = z.object({ commits: z.array(z.object({ id: sha })), diffs: z.array(diffRow), compare_timeout: z.boolean() });

export const commit = z.object({ id: sha });
export const commitWithParents = z.object({ parent_ids: z.array(z.string()) });

export const treeEntry = z.object({ id: z.string(), name: z.string(), type: z.string(), path: z.string(), mode: z.string() });
