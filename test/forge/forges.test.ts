import { expect, test } from 'vitest';
import { createForges } from '../../activities/forge/forges.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';

test.each([
  [
    'https://github.com/octo-org/app/pull/1',
    /^GitHub is not set up on this server: run npx barista github setup, or set GITHUB_APP_ID and /,
  ],
  ['https://gitlab.com/group/app/-/merge_requests/1', /^GitLab is not set up on this server: set GITLAB_TOKEN_FILE, and GITLAB_URL /],
  ['local:/src/app?base=main&head=topic', /^Local repositories cannot be opened here: BARISTA_LOCAL_REPOS names /],
])('%s on a server without that forge is refused with what to set', async (url, says) => {
  await expect(createForges({}).resolve(parsePullRequest(url))).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(says),
  });
});
