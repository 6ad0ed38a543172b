import { describe, expect, test } from 'vitest';
import { createPlacer } from '../../activities/context/anchors.js';

const PATCH = [
  '@@ -3,5 +3,5 @@ function f() {',
  ' three',
  ' four',
  '-old five',
  '+new five',
  ' six',
  ' seven',
  '@@ -20,2 +20,3 @@',
  ' twenty',
  '+twenty-one, new',
  ' twenty-two, was twenty-one',
  '@@ -30,3 +31,0 @@',
  '-thirty',
  '-thirty-one',
  '-thirty-two',
  '\\ No newline at end of file',
].join('\n');
const place = createPlacer(
  new Map([
    ['a.ts', PATCH],
    ['image.png', null],
  ]),
);

describe('D9: each line is checked against the hunks', () => {
  test.each([
    [3, 'new', 3, 'new'],
    [5, 'new', 5, 'new'],
    [7, 'new', 7, 'new'],
    [21, 'new', 21, 'new'],
    [22, 'new', 22, 'new'],
    [5, 'old', 5, 'old'],
    // Unchanged lines named by their old number stand at their new one.
    [6, 'old', 6, 'new'],
    [21, 'old', 22, 'new'],
  ] as const)('line %i on the %s side is placed at %i on the %s side', (line, side, at, on) => {
    expect(place({ path: 'a.ts', line, side })).toEqual({ placed: true, line: at, side: on });
  });

  test.each([
    [3, 7, 'new', 3, 7, 'new'],
    [20, 22, 'new', 20, 22, 'new'],
    // Over a line that was removed in between: both ends are on the new side.
    [4, 6, 'new', 4, 6, 'new'],
    [30, 32, 'old', 30, 32, 'old'],
    // Unchanged lines at both ends are named by their new numbers, as one line is.
    [20, 21, 'old', 20, 22, 'new'],
  ] as const)('lines %i to %i on the %s side are placed at %i to %i on the %s side', (startLine, line, side, from, at, on) => {
    expect(place({ path: 'a.ts', startLine, line, side })).toEqual({ placed: true, startLine: from, line: at, side: on });
  });

  test.each([
    ['starts before its hunk', 1, 5, 'new', 5, 'new'],
    ['starts in another hunk', 7, 20, 'new', 20, 'new'],
    ['starts on the other side of the diff', 4, 5, 'old', 5, 'old'],
    ['ends on the other side of the diff', 5, 6, 'old', 6, 'new'],
  ] as const)('a range that %s is placed by its last line alone', (_, startLine, line, side, at, on) => {
    expect(place({ path: 'a.ts', startLine, line, side })).toEqual({ placed: true, line: at, side: on });
  });

  test('a range whose last line is in no hunk is not placed', () => {
    expect(place({ path: 'a.ts', startLine: 5, line: 12, side: 'new' })).toMatchObject({ placed: false });
  });

  test.each([
    ['a.ts', 2, 'new', /in no hunk/],
    ['a.ts', 8, 'new', /in no hunk/],
    ['a.ts', 23, 'new', /in no hunk/],
    ['a.ts', 22, 'old', /old file is in no hunk/],
    ['a.ts', undefined, 'new', /whole file/],
    ['b.ts', 1, 'new', /not in the pull request/],
    ['image.png', 1, 'new', /no patch/],
  ] as const)('%s line %s on the %s side is not placed, and says why', (path, line, side, reason) => {
    const placement = place({ path, line, side });
    expect(placement).toMatchObject({ placed: false, reason: expect.stringMatching(reason) as string });
  });
});
