import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ForgeError } from '../../activities/forge/port.js';
import { githubRef, gitlabRef, localRef, parsePullRequest } from '../../activities/forge/pull-request.js';

describe('R8: one pull request is one key', () => {
  test.each([
    ['local:/srv/repo?base=main&head=topic', '/srv/repo', 'main', 'topic'],
    ['local:/srv//repo/./?head=topic&base=main', '/srv/repo', 'main', 'topic'],
    ['local:/srv/repo?base=refs/heads/main&head=refs/heads/topic', '/srv/repo', 'main', 'topic'],
    ['local:/srv/with space?base=main&head=feat/a+b', '/srv/with space', 'main', 'feat/a+b'],
    ['local:/srv/100%/a%3Fb?base=main&head=gr%C3%BCn', '/srv/100%/a?b', 'main', 'grün'],
    ['local:/srv/repo?base=main&head=-x', '/srv/repo', 'main', '-x'],
  ])('%s', (text, path, base, head) => {
    const ref = parsePullRequest(text);
    expect(ref).toMatchObject({ forge: 'local', path, base, head });
    expect(ref.key).toBe(localRef(path, base, head).key);
  });

  test.each([
    ['https://github.com/octo-org/Hello.World/pull/7', 'github.com', 'octo-org', 'Hello.World', 7],
    ['https://www.github.com/o/r/pull/7/files#diff-1', 'github.com', 'o', 'r', 7],
    ['http://github.com/o/r/pull/7?w=1', 'github.com', 'o', 'r', 7],
    ['https://GHE.example.com:8443/o/r/pull/12/commits/abc', 'ghe.example.com:8443', 'o', 'r', 12],
  ])('%s', (text, host, owner, name, number) => {
    const ref = parsePullRequest(text);
    expect(ref).toMatchObject({ forge: 'github', host, owner, name, number });
    expect(parsePullRequest(ref.url)).toEqual(ref);
    expect(parsePullRequest(ref.url.toUpperCase().replace('/PULL/', '/pull/')).key).toBe(ref.key);
  });

  test.each([
    ['https://gitlab.com/group/project/-/merge_requests/7', 'https://gitlab.com', 'group/project', 7],
    ['http://gitlab.com/group/project/-/merge_requests/7/diffs?diff_id=1#note_2', 'https://gitlab.com', 'group/project', 7],
    ['https://git.example.com:8443/a/b/c/d.e/-/merge_requests/12/commits', 'https://git.example.com:8443', 'a/b/c/d.e', 12],
    ['https://example.com/gitlab/group/project/merge_requests/3', 'https://example.com', 'gitlab/group/project', 3],
    ['https://git.example.com/pull/merge_requests/-/merge_requests/3', 'https://git.example.com', 'pull/merge_requests', 3],
  ])('%s', (text, origin, project, iid) => {
    const ref = parsePullRequest(text);
    expect(ref).toMatchObject({ forge: 'gitlab', origin, project, iid });
    expect(parsePullRequest(ref.url)).toEqual(ref);
    expect(parsePullRequest(ref.url.replace(project, project.toUpperCase())).key).toBe(ref.key);
  });

  test("once resolved the key is of the repository's id, which no rename changes", () => {
    expect(githubRef('https://github.com', 'old', 'name', 7, 42).key).toBe(githubRef('https://github.com', 'new', 'name', 7, 42).key);
    expect(gitlabRef('https://gitlab.com', 'old/name', 7, 42).key).toBe(gitlabRef('https://gitlab.com', 'new/group/name', 7, 42).key);
    expect(gitlabRef('https://gitlab.com', 'group/42', 7).key).not.toBe(gitlabRef('https://gitlab.com', 'old/name', 7, 42).key);
  });

  test('the url of any ref parses to that ref', () => {
    const branch = fc.stringMatching(/^[a-zA-Z0-9%&#=+'"$;ü-]{1,12}(\/[a-z%&-]{1,5})?$/);
    const path = fc.array(fc.stringMatching(/^[a-z %?#&+ü'"\n-]{1,6}$/), { minLength: 1 }).map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(path, branch, branch, (where, base, head) => {
        fc.pre(base !== head);
        const ref = localRef(where, base, head);
        expect(parsePullRequest(ref.url)).toEqual(ref);
      }),
    );
  });
});

test.each([
  ['https://github.com/o/r/pull/0', /no address of a pull request/],
  ['https://github.com/o/r/issues/1', /no address of a pull request/],
  ['https://github.com/o/../pull/1', /no address of a pull request/],
  ['https://github.com/o/%2e%2e/pull/1', /no address of a pull request/],
  ['https://user:secret@github.com/o/r/issues/1', /^The address holds a name or a password/],
  ['https://gitlab.com/group/-/merge_requests/1', /no address of a pull request/],
  ['https://gitlab.com/group/project/-/merge_requests/0', /no address of a pull request/],
  ['https://token:secret@gitlab.com/g/p/-/merge_requests/1', /^The address holds a name or a password/],
  ['nonsense', /names no pull request/],
  ['local:/srv/repo', /base and head are missing/],
  ['local:relative?base=main&head=topic', /not absolute/],
  ['local:/r?base=main', /head is missing/],
  ['local:/r?base=main&head=topic&x=1', /no part of a local pull request/],
  ['local:/r?base=main&base=dev&head=topic', /given 2 times/],
  ['local:/r?base=main&head=main', /both "main"/],
  ['local:/r?base=main&head=a..b', /cannot be the name/],
  ['local:/r?base=main&head=HEAD~1', /cannot be the name/],
  ['local:/r?base=main&head=top*', /cannot be the name/],
  ['local:/r?base=main&head=a@{1}', /cannot be the name/],
  ['local:/r?base=main&head=a.lock', /cannot be the name/],
  ['local:/r?base=main&head=%0Ax', /cannot be the name/],
  ['local:/r%00?base=main&head=topic', /NUL/],
])('S6: %s is refused with what is wrong', (text, message) => {
  expect(() => parsePullRequest(text)).toThrow(message);
  expect(() => parsePullRequest(text)).toThrow(ForgeError);
});
