import { MAX_DIFF_BYTES, MAX_FILES, MAX_PATCH_BYTES } from '../local/diff.js';
import { PatchReader } from '../local/patch-reader.js';
import { type ChangedFile, type Diff, ForgeError } from '../port.js';
import { fileOfSection, kindChanged } from './changed-file.js';
import { readGitHeader, type GitHeader } from './git-header.js';

/** Git's own diff as GitLab passes it on, outside all limits of its pages: read as it comes, within our own. */
export async function readRawDiff(stream: AsyncIterable<Buffer>): Promise<Diff> {
  const files: ChangedFile[] = [];
  let last: GitHeader | null = null;
  let count = 0;
  let room = MAX_DIFF_BYTES;
  const reader = new PatchReader(MAX_PATCH_BYTES, (section) => {
    const header = readGitHeader(section.header);
    if (header === null) throw new ForgeError('unavailable', "GitLab's raw diff is in no form of git's.");
    count += 1;
    if (files.length >= MAX_FILES) return;
    const kept = section.patch === null || section.bytes <= room;
    if (kept && section.patch !== null) room -= section.bytes;
    const file = fileOfSection(header, section, kept);
    if (last?.status === 'removed' && header.status === 'added' && last.path === header.path) {
      files.push(kindChanged(files.pop() as ChangedFile, file, `${last.oldMode} → ${header.newMode}`));
    } else files.push(file);
    last = header;
  });
  for await (const chunk of stream) reader.feed(chunk);
  reader.end();
  return {
    files,
    gaps: count > files.length && files.length >= MAX_FILES ? [`Only the first ${MAX_FILES} of ${count} changed files are listed.`] : [],
  };
}
