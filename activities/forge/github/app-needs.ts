import type { Identity } from '../port.js';

type Access = 'read' | 'write';

export interface Need {
  readonly permission: string;
  readonly access: Access;
  /** What does not work without it. */
  readonly without: string;
}

/** The permissions that each App needs, for every endpoint that is called as it, and no more. */
const NEEDS: Readonly<Record<Identity, readonly Need[]>> = {
  operator: [
    { permission: 'metadata', access: 'read', without: 'repositories are not found' },
    { permission: 'contents', access: 'read', without: 'files and the changes since the last round cannot be read' },
    { permission: 'pull_requests', access: 'write', without: 'pull requests cannot be read and reviews cannot be posted' },
    { permission: 'issues', access: 'read', without: 'the issue that a pull request closes cannot be read' },
    { permission: 'checks', access: 'read', without: 'check runs are unknown' },
    { permission: 'statuses', access: 'read', without: 'commit statuses are unknown' },
  ],
  reviewer: [
    { permission: 'metadata', access: 'read', without: 'repositories are not found' },
    { permission: 'pull_requests', access: 'write', without: 'reviews cannot be posted' },
  ],
};

/** Of installations GitHub tells every App, and refuses to be asked for it. */
const EVENTS: Readonly<Record<Identity, readonly string[]>> = {
  operator: ['pull_request', 'check_run', 'check_suite', 'status'],
  reviewer: [],
};

/** As a manifest has them: `{contents: 'read', …}`. */
export const permissionsOf = (role: Identity): Record<string, Access> =>
  Object.fromEntries(NEEDS[role].map(({ permission, access }) => [permission, access]));

export const eventsOf = (role: Identity): readonly string[] => EVENTS[role];

const LEVELS = ['read', 'write', 'admin'];

/** What an App as it is `held` (permission to access, as GitHub has them) lacks for its work. */
export function missingPermissions(role: Identity, held: Readonly<Record<string, string | undefined>>): Need[] {
  return NEEDS[role].filter(({ permission, access }) => LEVELS.indexOf(held[permission] ?? '') < LEVELS.indexOf(access));
}

/** The events it is not told of, by GitHub's names. */
export function missingEvents(role: Identity, subscribed: readonly string[]): string[] {
  return EVENTS[role].filter((event) => !subscribed.includes(event));
}
