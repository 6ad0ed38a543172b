// A process of its own: while its git works nobody else's clock or connection waits for it.
import { FakeGitHub } from '../test/support/fake-github/index.js';
import { FakeGitLab } from '../test/support/fake-gitlab/index.js';
import { WEBHOOK_SECRET } from './deliveries.js';
import type { ForgesReady, Shape } from './forges.js';
import { manyFiles } from './repository.js';

const SHAPES: Record<Shape, (github: FakeGitHub, size: number) => unknown> = {
  files: ({ world }, size) => world.push(Object.fromEntries(manyFiles(size).map(({ path, after }) => [path, after]))),
  line: ({ world }, size) => world.forcePush({ 'one-line.js': 'x'.repeat(size), 'small.js': 'small();\n' }),
};

async function main(): Promise<void> {
  const github = await FakeGitHub.start();
  const gitlab = await FakeGitLab.start(github.world);
  const app = github.addApp(11, 'barista');
  process.on('message', ({ shape, size }: { shape: Shape; size: number }) => {
    SHAPES[shape](github, size);
    process.send!('done');
  });
  process.on('disconnect', () => {
    github.stop();
    process.exit(0);
  });
  const ready: ForgesReady = {
    env: {
      GITHUB_API_URL: github.urls.api,
      GITHUB_APP_ID: String(app.id),
      GITHUB_APP_PRIVATE_KEY: app.privateKey,
      GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET,
      GITLAB_URL: gitlab.url,
      GITLAB_TOKEN: gitlab.token,
    },
    pullRequests: { GitHub: github.pullRequest, GitLab: gitlab.pullRequest, local: github.world.pullRequest },
  };
  process.send!(ready);
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
