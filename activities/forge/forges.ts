import { type Forge, ForgeError, type ForgeName } from './port.js';

/** The forges this server is set up for, by name; one that is absent is refused with what to set. */
type Forges = Readonly<Partial<Record<ForgeName, Forge>>>;

const SET_UP: Readonly<Record<ForgeName, string>> = {
  local: 'Local repositories cannot be opened here: BARISTA_LOCAL_REPOS names the folders they may be in.',
  github: 'GitHub is not set up on this server: run npx barista github setup, or set GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY_FILE.',
  gitlab: 'GitLab is not set up on this server: set GITLAB_TOKEN_FILE, and GITLAB_URL for a GitLab of your own.',
};

/** One forge of all of them: each call goes to the forge of its pull request. */
export function createForges(forges: Forges): Forge {
  const of = (ref: { readonly forge: ForgeName }): Forge => {
    const forge = forges[ref.forge];
    if (forge) return forge;
    throw new ForgeError('invalid', SET_UP[ref.forge]);
  };
  return {
    resolve: async (ref) => of(ref).resolve(ref),
    repository: async (ref) => of(ref).repository(ref),
    hook: async (ref, wanted) => of(ref).hook?.(ref, wanted),
    headFingerprint: async (ref) => of(ref).headFingerprint(ref),
    head: async (ref) => of(ref).head(ref),
    describe: async (ref) => of(ref).describe(ref),
    diff: async (ref, commits) => of(ref).diff(ref, commits),
    compare: async (ref, from, to) => of(ref).compare(ref, from, to),
    commitsBetween: async (ref, from, to) => of(ref).commitsBetween(ref, from, to),
    file: async (ref, sha, path) => of(ref).file(ref, sha, path),
    ci: async (ref, sha) => of(ref).ci(ref, sha),
    findPosted: async (ref, posting) => of(ref).findPosted(ref, posting),
    post: async (ref, review, stop) => of(ref).post(ref, review, stop),
    readBack: async (ref, review) => of(ref).readBack(ref, review),
  };
}
