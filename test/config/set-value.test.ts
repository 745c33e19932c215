import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as assertProperty, constantFrom, integer, oneof, property } from 'fast-check';
import { parse } from 'smol-toml';
import { buildExample } from '../../src/config/settings.ts';
import { parseKey, setValue } from '../../src/config/set-value.ts';

function set(text: string, name: string, value: string) {
  const key = parseKey(name);
  assert.ok(key.ok, JSON.stringify(key));
  return setValue(text, { path: 'c.toml', key: key.value, value });
}

function changed(text: string, name: string, value: string): string {
  const result = set(text, name, value);
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

const CASES: readonly (readonly [name: string, before: string, key: string, value: string, after: string])[] = [
  [
    'a value is replaced, and the comment after it stays',
    '# head\n[summarization] # s\nkeep_recent=5   # five\nclip_last = 2\n',
    'summarization.keep_recent',
    '20',
    '# head\n[summarization] # s\nkeep_recent=20   # five\nclip_last = 2\n',
  ],
  [
    'a list over several lines is replaced as a whole',
    '[summarization]\nrules = [\n  "a", # one\n  "]",\n] # end\nclip_last = 2\n',
    'summarization.rules',
    '["b"]',
    '[summarization]\nrules = ["b"] # end\nclip_last = 2\n',
  ],
  [
    'a new key goes to the end of its table',
    '[summarization]\nclip_last = 2\n\n# about the archive\n[archive]\npath = "a.db"\n',
    'summarization.clip_first',
    '3',
    '[summarization]\nclip_last = 2\nclip_first = 3\n\n# about the archive\n[archive]\npath = "a.db"\n',
  ],
  [
    'a new key goes below the comment that shows its default',
    '[summarization]\n# The end.\n# keep_recent = 5\n\n# More.\n# clip_last = 2\n[archive]\n',
    'summarization.keep_recent',
    '7',
    '[summarization]\n# The end.\n# keep_recent = 5\nkeep_recent = 7\n\n# More.\n# clip_last = 2\n[archive]\n',
  ],
  ['a table that is missing is appended', '# mine', 'archive.path', '~/a.db', '# mine\n\n[archive]\npath = "~/a.db"\n'],
  ['an empty file gets a table', '', 'privacy.redact', 'false', '[privacy]\nredact = false\n'],
  [
    'dotted keys stay dotted',
    'summarization.clip_last = 2\n[archive]\npath = "a"\n',
    'summarization.keep_recent',
    '30k',
    'summarization.clip_last = 2\nsummarization.keep_recent = "30k"\n[archive]\npath = "a"\n',
  ],
  [
    'the ends of lines stay what they are',
    '[summarization]\r\nkeep_recent = 1\r\n',
    'summarization.clip_last',
    '4',
    '[summarization]\r\nkeep_recent = 1\r\nclip_last = 4\r\n',
  ],
  [
    'a price is a table of its own',
    '[prices]\n',
    'prices."m.1"',
    '{ input = 1, output = 5 }',
    '[prices]\n"m.1" = { input = 1, output = 5 }\n',
  ],
  [
    'a text is quoted, whatever is in it',
    '[summarization]\n',
    'summarization.prompt',
    'Say "hi"\n[archive]',
    '[summarization]\nprompt = "Say \\"hi\\"\\n[archive]"\n',
  ],
  [
    'a wrong value can be replaced by a right one',
    '[summarization]\nkeep_recent = "many"\n',
    'summarization.keep_recent',
    '5',
    '[summarization]\nkeep_recent = 5\n',
  ],
];

for (const [name, before, key, value, after] of CASES) {
  test(name, () => {
    assert.equal(changed(before, key, value), after);
  });
}

const REFUSED: readonly (readonly [name: string, text: string, key: string, value: string, problem: object])[] = [
  ['broken TOML', '[a]\nx = = 1\n', 'summarization.keep_recent', '5', { kind: 'config-syntax', line: 2, column: 5 }],
  ['a value out of range', '', 'summarization.keep_recent', '-3', { kind: 'config-value', found: '-3' }],
  [
    'a value of another type',
    '',
    'privacy.redact',
    'maybe',
    { kind: 'config-value', problem: 'must be true or false' },
  ],
  ['a wrong value elsewhere', '[archive]\npath = 5\n', 'privacy.redact', 'true', { kind: 'config-value', line: 2 }],
  ['a table in one line', 'archive = { }\n', 'archive.path', 'x', { kind: 'config-layout', line: 1 }],
  ['a list that smuggles a key', '', 'summarization.rules', '[]\nprompt = "x"', { kind: 'config-layout' }],
  ['a price that smuggles a table', '', 'prices.m', '{ input = 1, output = 1 }\n[archive]', { kind: 'config-layout' }],
];

for (const [name, text, key, value, problem] of REFUSED) {
  test(`nothing is set where that would not be right: ${name}`, () => {
    const result = set(text, key, value);
    assert.ok(!result.ok);
    assert.partialDeepStrictEqual(result.error[0], problem);
  });
}

test('a key that does not exist is an error with the nearest one', () => {
  assert.deepEqual(parseKey('summarization.keep_recnt'), {
    ok: false,
    error: "there is no key 'summarization.keep_recnt': did you mean summarization.keep_recent?",
  });
  for (const name of ['', 'summarization', 'a = 1\nb', 'a..b', '#', 'x.y.z'])
    assert.equal(parseKey(name).ok, false, name);
});

test('in a file of any keys and comments, only the key that is set changes, and every other line stays', () => {
  const keys = ['keep_recent', 'clip_first', 'clip_last', 'chunk_size', 'max_summary_tokens'];
  const line = oneof(
    constantFrom('', '# [archive]', '#: chunk_size = 3', '# clip_last = 2', '  # "'),
    constantFrom(...keys).map((key) => ({ key })),
  );
  assertProperty(
    property(array(line), constantFrom(...keys), integer({ min: 1, max: 999 }), (lines, key, value) => {
      const seen = new Set<string>();
      const body = lines.flatMap((one) => {
        if (typeof one === 'string') return [one];
        const isNew = !seen.has(one.key);
        seen.add(one.key);
        return isNew ? [`${one.key} = 5 # [x]`] : [];
      });
      const before = `[summarization]\n${body.join('\n')}\n[transcript]\nkeep_invalid = true\n`;
      const after = changed(before, `summarization.${key}`, String(value));
      const expected = { ...Object(parse(before)['summarization']), [key]: value };
      assert.deepEqual({ ...Object(parse(after)['summarization']) }, expected);
      const isOther = (text: string) => !text.startsWith(`${key} =`);
      assert.deepEqual(after.split('\n').filter(isOther), before.split('\n').filter(isOther));
    }),
  );
});

test('every key of the commented file can be set in it, right below its explanation', () => {
  const example = buildExample();
  const after = changed(example, 'summarization.keep_recent', '7');
  assert.equal(after, example.replace('# keep_recent = 5\n', '# keep_recent = 5\nkeep_recent = 7\n'));
});
