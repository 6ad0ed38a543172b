import { failedOf } from './failures.js';

/** Why GitHub refused a review, where something can be done about it. */
export type Refused = 'anchors' | 'own' | 'pending' | 'commit' | null;

export function refusedFor(error: unknown): Refused {
  const failed = failedOf(error);
  if (failed?.status !== 422) return null;
  const said = [failed.message, ...failed.details].join(' ');
  if (/one pending review/i.test(said)) return 'pending';
  if (/your own pull request/i.test(said)) return 'own';
  if (/commit_id|not part of the pull request|no commit found/i.test(said)) return 'commit';
  return /could not be resolved|must be part of the (?:same )?(?:diff|hunk)|pull_request_review_thread|diff_hunk|position/i.test(said)
    ? 'anchors'
    : null;
}
