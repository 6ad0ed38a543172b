/** What an App is for: the operator reads and posts, a reviewer App posts in its place. */
type Role = 'operator' | 'reviewer';
type Access = 'read' | 'write';

export interface Need {
  readonly permission: string;
  readonly access: Access;
  /** What does not work without it. */
  readonly without: string;
}

/** The permissions that each App needs, for every endpoint that is called as it, and no more. */
const NEEDS: Readonly<Record<Role, readonly Need[]>> = {
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
const EVENTS: Readonly<Record<Role, readonly string[]>> = {
  operator: ['pull_request', 'check_run', 'check_suite', 'status'],
  reviewer: [],
};

/** As a manifest has them: `{contents: 'read', …}`. */
export const permissionsOf = (role: Role): Record<string, Access> =>
  Object.fromEntries(NEEDS[role].map(({ permission, access }) => [permission, access]));

export const eventsOf = (role: Role): readonly string[] => EVENTS[role];

const LEVELS = ['read', 'write', 'admin'];

export function missingPermissions(role: Role, held: Readonly<Record<string, string | undefined>>): Need[] {
  return NEEDS[role].filter(({ permission, access }) => LEVELS.indexOf(held[permission] ?? '') < LEVELS.indexOf(access));
}

export function missingEvents(role: Role, subscribed: readonly string[]): string[] {
  return EVENTS[role].filter((event) => !subscribed.includes(event));
}
