import { expect, test } from 'vitest';
import { addedLines, remarksOn } from '../../cli/demo/remarks.js';

const patch =
  '@@ -1,3 +1,4 @@\n one\n-two\n+TODO: two words\n+}\n three\n@@ -20 +21,2 @@ f\n-x\n+plain enough\n+const last = 1;\n\\ No newline at end of file';

test('the lines that a patch adds have their numbers in the new file', () => {
  expect(addedLines({ path: 'a', patch }).map(({ line, text }) => [line, text])).toEqual([
    [2, 'TODO: two words'],
    [3, '}'],
    [21, 'plain enough'],
    [22, 'const last = 1;'],
  ]);
  expect(addedLines({ path: 'a' })).toEqual([]);
});

test('remarks are on added lines, the most telling first, of many files rather than one; then on whole files', () => {
  const remarks = remarksOn([{ path: 'a', patch }, { path: 'b', patch: '@@ -0,0 +1 @@\n+something new' }, { path: 'image.png' }]);
  expect(remarks.map(({ path, line }) => (line === undefined ? path : `${path}:${line}`))).toEqual([
    'a:2',
    'b:1',
    'a:21',
    'a:22',
    'a',
    'b',
    'image.png',
  ]);
  expect(remarks[0]!.body).toBe('`TODO: two words` — What is still to be done here should be done, or be an issue that this line names.');
});
