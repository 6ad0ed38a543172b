import { webUrlOf } from '../../activities/forge/github/index.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ForgeError } from '../../activities/forge/port.js';
import { githubRef, gitlabRef, localRef, parsePullRequest } from '../../activities/forge/pull-request.js';
import { githubRepository, gitlabRepository, localRepository, parseRepository } from '../../activities/forge/repository-ref.js';

const NONE = { github: null, gitlab: null };
const OWN = { github: 'https://ghe.example.com:8443', gitlab: 'https://git.example.com/gitlab' };

describe('R11: one repository is one ref, whatever page of it is named', () => {
  test.each([
    ['https://github.com/octo-org/Hello.World', 'octo-org', 'Hello.World'],
    ['http://www.github.com/octo-org/Hello.World.git', 'octo-org', 'Hello.World'],
    ['https://github.com/octo-org/Hello.World/', 'octo-org', 'Hello.World'],
    ['https://github.com/octo-org/Hello.World/tree/main/src?tab=readme#top', 'octo-org', 'Hello.World'],
    ['https://github.com/octo-org/Hello.World/pull/7/files', 'octo-org', 'Hello.World'],
    ['HTTPS://GITHUB.com/o/r', 'o', 'r'],
  ])('GitHub: %s', (text, owner, name) => {
    expect(parseRepository(text, NONE)).toEqual(githubRepository('https://github.com', owner, name));
  });

  test.each([
    ['https://gitlab.com/group/project', 'group/project'],
    ['http://gitlab.com/group/sub.group/project.git', 'group/sub.group/project'],
    ['https://gitlab.com/group/project/-/merge_requests/7/diffs#note_1', 'group/project'],
    ['https://gitlab.com/group/project/-/tree/main/a/-/b', 'group/project'],
    ['https://gitlab.com/group/project/merge_requests/7', 'group/project'],
    ['https://gitlab.com/group/project/', 'group/project'],
  ])('GitLab: %s', (text, project) => {
    expect(parseRepository(text, NONE)).toEqual(gitlabRepository('https://gitlab.com', project));
  });

  test('a host of its own is of the forge that is set up there, at its own scheme and path', () => {
    expect(parseRepository('http://GHE.example.com:8443/o/r/pulls', OWN)).toEqual(
      githubRepository('https://ghe.example.com:8443', 'o', 'r'),
    );
    const project = gitlabRepository('https://git.example.com', 'gitlab/group/project');
    expect(parseRepository('https://git.example.com/gitlab/group/project/-/issues', OWN)).toEqual(project);
    expect(parseRepository('https://github.com/o/r', OWN)).toEqual(githubRepository('https://github.com', 'o', 'r'));
  });

  test.each([
    ['local:/srv/repo', '/srv/repo'],
    ['local:/srv//repo/./', '/srv/repo'],
    ['local:/srv/100%/a%3Fb', '/srv/100%/a?b'],
    ['local:/', '/'],
  ])('local: %s', (text, path) => {
    expect(parseRepository(text, NONE)).toEqual(localRepository(path));
  });
});

test('R11: a repository and its pull requests spell it the same, before and after it is known by its id', () => {
  expect(githubRepository('https://github.com', 'Octo', 'R').repository).toBe(githubRef('https://github.com', 'octo', 'r', 7).repository);
  expect(githubRepository('https://github.com', 'new', 'name', 42).repository).toBe(
    githubRef('https://github.com', 'o', 'r', 7, 42).repository,
  );
  expect(gitlabRepository('https://gitlab.com', 'G/p').repository).toBe(gitlabRef('https://gitlab.com', 'g/P', 7).repository);
  expect(gitlabRepository('https://gitlab.com', 'new/path', 42).repository).toBe(gitlabRef('https://gitlab.com', 'g/p', 7, 42).repository);
  expect(localRepository('/a', '/a/.git').repository).toBe(localRef('/b', 'main', 'topic', '/a/.git').repository);
  const opened = parsePullRequest('https://git.example.com/gitlab/group/project/-/merge_requests/7');
  expect(parseRepository(opened.url, OWN).repository).toBe(opened.repository);
});

test('the url of any ref parses to that ref', () => {
  const path = fc.array(fc.stringMatching(/^[a-z %?#&+ü'"\n-]{1,6}$/), { minLength: 1 }).map((parts) => `/${parts.join('/')}`);
  const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_-]{0,5}$/);
  fc.assert(
    fc.property(path, (where) => {
      expect(parseRepository(localRepository(where).url, NONE)).toEqual(localRepository(where));
    }),
  );
  fc.assert(
    fc.property(name, name, (owner, repo) => {
      const ref = githubRepository('https://github.com', owner, repo);
      expect(parseRepository(ref.url, NONE)).toEqual(ref);
    }),
  );
  fc.assert(
    fc.property(fc.array(name, { minLength: 2, maxLength: 5 }), (parts) => {
      const ref = gitlabRepository('https://gitlab.com', parts.join('/'));
      fc.pre(!parts.includes('-'));
      expect(parseRepository(ref.url, NONE)).toEqual(ref);
    }),
  );
});

test.each([
  ['', NONE, 'names no repository'],
  ['acme/shop', NONE, 'names no repository'],
  ['git@github.com:acme/shop.git', NONE, 'names no repository'],
  ['https://github.com/acme', NONE, 'is no address of a repository'],
  ['https://github.com/acme/..', NONE, 'is no address of a repository'],
  ['https://github.com/-/shop', NONE, 'is no address of a repository'],
  ['https://gitlab.com/group', NONE, 'is no address of a repository'],
  ['https://gitlab.com/a%2Fb/c', NONE, 'is no address of a repository'],
  ['https://git.example.com/other/group/project', OWN, 'set up for https://ghe.example.com:8443 and https://git.example.com/gitlab'],
  ['https://ghe.example.com/o/r', OWN, 'is on no forge of this server'],
  ['https://example.com/o/r', NONE, 'is on no forge that is known here'],
  ['https://github.com.evil.example/o/r', NONE, 'is on no forge'],
  ['local:srv/repo', NONE, 'is not absolute'],
  ['local:/srv/repo?base=main&head=topic', NONE, 'Give local:/srv/repo.'],
  ['local:/srv/%ff', NONE, 'broken % escape'],
  ['local:/a\0b', NONE, 'NUL'],
])('%s is refused with what is wrong and an example', (text, addresses, says) => {
  const parse = () => parseRepository(text, addresses);
  expect(parse).toThrow(ForgeError);
  expect(parse).toThrow(expect.objectContaining({ kind: 'invalid', message: expect.stringContaining(says) }));
});

test('a password in an address is refused, and never repeated', () => {
  const parse = () => parseRepository('https://robin:hunter2@github.com/o/r', NONE);
  expect(parse).toThrow('holds a name or a password');
  expect(parse).not.toThrow(/hunter2/);
});

test.each([
  ['https://api.github.com', 'https://github.com'],
  ['https://api.octo.ghe.com', 'https://octo.ghe.com'],
  ['https://git.example.com:8443/api/v3', 'https://git.example.com:8443'],
  ['https://api.example.com/api/v3', 'https://api.example.com'],
])('the GitHub whose API is at %s has its pages and its git at %s, and its tokens go nowhere else', (api, web) => {
  expect(webUrlOf(api)).toBe(web);
});
