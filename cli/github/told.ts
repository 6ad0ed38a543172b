import type { AppRole } from '../../config/kept-app.js';
import { runningStack } from '../../stack/running.js';
import { answer } from '../output.js';
import { installUrl, missingOf, type SetUp } from './setup.js';

interface Around {
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  readonly role: AppRole;
  /** Where GitHub reaches this server; null: nowhere. */
  readonly publicUrl: string | null;
  /** PUBLIC_URL as it is set. */
  readonly serverHas: string | null;
  readonly json?: boolean | undefined;
}

/** What was kept, and what is left for the person to do. */
export function tell(done: SetUp, around: Around): void {
  const { app, keptIn } = done;
  const { role } = around;
  const notes = [
    ...replacedNote(done),
    ...missingOf(done, role, around.publicUrl !== null),
    ...webhookNotes(done, around),
    ...useNotes(around),
  ];
  answer(
    around,
    {
      app: { id: app.id, name: app.name, owner: app.owner, role, url: app.url, settings_url: app.settings, install_url: installUrl(app) },
      kept_in: keptIn,
      notes,
    },
    [
      `The GitHub App ${app.name} (${app.id}, of ${app.owner}) is kept in ${keptIn}, readable by you alone.`,
      `Install it on the repositories that it is for: ${installUrl(app)}`,
      ...notes,
    ],
  );
}

function replacedNote({ replaced }: SetUp): string[] {
  return replaced === null ? [] : [`It takes the place of ${replaced.name} (${replaced.id}), which GitHub still has: ${replaced.html_url}`];
}

function webhookNotes({ app, hasWebhookSecret }: SetUp, { role, publicUrl, serverHas, env }: Around): string[] {
  if (role === 'reviewer') return [];
  if (publicUrl === null) return ['Pushes are found by looking every 5 minutes: PUBLIC_URL is not set to an address that GitHub reaches.'];
  return [
    ...(serverHas === publicUrl ? [] : [`Set PUBLIC_URL=${publicUrl} where Barista starts.`]),
    ...(hasWebhookSecret || env.GITHUB_WEBHOOK_SECRET || env.GITHUB_WEBHOOK_SECRET_FILE
      ? []
      : [
          `No secret of its webhook is known, so that no delivery is taken: set one at ${app.settings} and name its file by GITHUB_WEBHOOK_SECRET_FILE.`,
        ]),
  ];
}

function useNotes({ env, role, dataDir }: Around): string[] {
  const names = role === 'operator' ? (['GITHUB_APP_ID', 'GITHUB_APP'] as const) : (['REVIEWER_APP_ID', 'REVIEWER_APP'] as const);
  if (env[names[0]]?.trim())
    return [`${names[0]} is set and wins over it: unset it and ${names[1]}_PRIVATE_KEY (or …_FILE) to use this one.`];
  const running = runningStack(dataDir);
  return [
    running === undefined
      ? 'The next npm start on this data folder uses it.'
      : `Barista runs on this data folder (process ${running.pid}): end it with Ctrl-C and start it again to use it.`,
  ];
}
