import { describe, expect, test } from 'vitest';
import { callingNone, code, cutText, finished, quiet, withoutOffers } from '../../activities/markdown.js';

describe('names of the room call nobody on a forge', () => {
  test.each([
    ['@grok read it', '`@grok` read it'],
    ['asked @ana, @grok', 'asked `@ana`, `@grok`'],
    ['ana@example.org', 'ana@example.org'],
    ['`@grok` already', '`@grok` already'],
    ['`see @bob`', '`see @bob`'],
    ['``a ` @bob``', '``a ` @bob``'],
    ['use ` and @bob', "use ' and `@bob`"],
    ['`a`@bob', '`a` `@bob`'],
    ['\\`@bob`', "' `@bob`'"],
    ['``` @bob `', "' `@bob` '"],
    ['at https://example.org/@bob, @bob', 'at https://example.org/@bob, `@bob`'],
    ['<details> of `<b>` <!-- x', '&lt;details> of `<b>` &lt;!-- x'],
  ])('%j becomes %j', (line, shown) => {
    expect(quiet(line)).toBe(shown);
  });
});

test('in a text of others only these names, and nothing in code, is marked', () => {
  const text = 'Thanks @octocat. @Grok, see `@grok` and @grok-2:\n```ts @grok\n@grok()\n```\n<!--\n@grok -->\n`@ops`@ana';
  expect(callingNone(text, new Set(['grok', 'ana']))).toBe(
    'Thanks @octocat. `@Grok`, see `@grok` and @grok-2:\n```ts @grok\n@grok()\n```\n<!--\n@grok -->\n`@ops` `@ana`',
  );
});

test('code that a forge would put in the place of lines is code alone', () => {
  expect(withoutOffers('a\n```suggestion\nx\n```\n  ~~~~suggestion:-2+0\ny\n  ~~~~\n```suggestions\nz\n```')).toBe(
    'a\n```\nx\n```\n  ~~~~\ny\n  ~~~~\n```suggestions\nz\n```',
  );
});

test('code stays code, on one line, whatever is in it', () => {
  expect(code('src/a.ts:7')).toBe('`src/a.ts:7`');
  expect(code('a`b``c')).toBe('``` a`b``c ```');
  expect(code('a\nb\tc')).toBe('`a\ufffdb\ufffdc`');
});

describe('what a text leaves open is closed', () => {
  test.each([
    ['plain', 'plain'],
    ['```\ncode\n```', '```\ncode\n```'],
    ['```ts\ncode', '```ts\ncode\n```'],
    ['  ````\n```', '  ````\n```\n  ````'],
    ['```\n``` not the end', '```\n``` not the end\n```'],
    ['~~~\n```', '~~~\n```\n~~~'],
    ['a `<!--` in a line', 'a `<!--` in a line'],
    ['<!-- a -->\n<!-- b', '<!-- a -->\n<!-- b\n-->'],
    ['<!-- a\n\nb -->', '<!-- a\n\nb -->'],
    ['<pre>\nx', '<pre>\nx\n</pre>'],
    ['<details><details></details>', '<details><details></details>\n\n</details>'],
    ['```\n<details>\n```', '```\n<details>\n```'],
    ['</details>', '</details>'],
    ['<details>\nends with `</details>`', '<details>\nends with `</details>`\n\n</details>'],
    ['`<details>` is a tag', '`<details>` is a tag'],
  ])('%j', (text, whole) => {
    expect(finished(text)).toBe(whole);
    expect(finished(whole)).toBe(whole);
  });
});

describe('D9: a cut', () => {
  test('ends at a line, inside no character, and closes the code it opened', () => {
    expect(cutText('short', 10)).toEqual({ text: 'short', cut: 0 });
    const emoji = cutText('🙂'.repeat(100), 61);
    expect(emoji.text).toMatch(/^(?:🙂)+ \[…\]$/u);
    expect(emoji.text.length).toBeLessThanOrEqual(61);
    const fenced = cutText(`intro\n\`\`\`ts\n${'const a = 1;\n'.repeat(50)}\`\`\`\nend`, 200);
    expect(fenced.text.split('```')).toHaveLength(3);
    expect(fenced.text).toMatch(/\n```$/);
    expect(fenced.text.length).toBeLessThanOrEqual(200);
  });

  test('never exceeds its room, however small that is or long the fence', () => {
    const text = `${'`'.repeat(40)}\n${'x'.repeat(300)}\n<details>`;
    for (let room = 0; room <= text.length; room++) {
      const { text: kept, cut } = cutText(text, room);
      expect(kept.length).toBeLessThanOrEqual(room);
      expect(cut > 0).toBe(room < text.length);
    }
  });

  test('backticks that close on their own line open nothing that would have to be closed', () => {
    expect(finished('```a``` is no fence\nand `b` none')).toBe('```a``` is no fence\nand `b` none');
    expect(finished('```a\ncode')).toBe('```a\ncode\n```');
  });

  test('of an entry of a list closes its code inside the entry', () => {
    expect(cutText(`- one:\n  \`\`\`\n${'  code\n'.repeat(20)}`, 60).text).toMatch(/\n {2}```$/);
  });
});
