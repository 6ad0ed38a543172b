import type { ForgePart, ForgePlace } from '../../prisma/store.js';
import { ForgeError, type Forge } from './port.js';
import type { Troubles } from './troubles.js';

/**
 * The same forge, whose troubles are written down where owners see them, and taken back by the first call that works.
 * Nothing else about it changes: not what it answers, and not when.
 */
export function watchedForge(forge: Forge, troubles: Troubles): Forge {
  /** `part`: what may be shut out by itself. `asks`: it never answers from what was read before, which would prove nothing. */
  async function watched<T>(
    ref: ForgePlace,
    { part, asks }: { part: ForgePart | null; asks: boolean },
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      const done = await work();
      if (asks) troubles.fine(ref, 'operator');
      if (part !== null && part !== 'posting') troubles.fine(ref, 'operator', part);
      return done;
    } catch (error) {
      if (error instanceof ForgeError) troubles.met(ref, part, error);
      throw error;
    }
  }

  /** The forge's own name of the repository comes only with the answer. */
  async function naming<Ref extends ForgePlace>(ref: Ref, work: () => Promise<Ref>): Promise<Ref> {
    try {
      const named = await work();
      troubles.fine(named, 'operator');
      return named;
    } catch (error) {
      if (error instanceof ForgeError) troubles.metLimit(ref.forge, error);
      throw error;
    }
  }

  const pull = { part: null, asks: true } as const;
  const files = { part: 'files', asks: false } as const;
  const posting = { part: 'posting', asks: true } as const;
  const { hook } = forge;
  return {
    resolve: (ref) => naming(ref, () => forge.resolve(ref)),
    repository: (ref) => naming(ref, () => forge.repository(ref)),
    ...(hook && { hook }),
    headFingerprint: (ref) => watched(ref, pull, () => forge.headFingerprint(ref)),
    head: (ref) => watched(ref, pull, () => forge.head(ref)),
    describe: (ref) => watched(ref, { part: 'texts', asks: true }, () => forge.describe(ref)),
    diff: (ref, commits) => watched(ref, files, () => forge.diff(ref, commits)),
    compare: (ref, from, to) => watched(ref, files, () => forge.compare(ref, from, to)),
    commitsBetween: (ref, from, to) => watched(ref, files, () => forge.commitsBetween(ref, from, to)),
    file: (ref, sha, path) => watched(ref, files, () => forge.file(ref, sha, path)),
    ci: (ref, sha) => watched(ref, { part: 'ci', asks: true }, () => forge.ci(ref, sha)),
    findPosted: (ref, wanted) => watched(ref, posting, () => forge.findPosted(ref, wanted)),
    async post(ref, review, stop) {
      const posted = await watched(ref, posting, () => forge.post(ref, review, stop));
      if (posted.by !== undefined) {
        troubles.fine(ref, posted.by);
        troubles.fine(ref, posted.by, 'posting');
      }
      return posted;
    },
    readBack: (ref, review) => watched(ref, posting, () => forge.readBack(ref, review)),
  };
}
