import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigProblem, locateKeys, parseConfig } from '../../src/config/parse.ts';

function problemsOf(text: string): readonly ConfigProblem[] {
  const parsed = parseConfig(text, 'c.toml');
  return parsed.ok ? [] : parsed.error;
}

test('only the values that the file sets are returned, unchanged', () => {
  const parsed = parseConfig('[summarization]\nkeep_recent = 0\n[prices]\n"m-1" = { input = 1, output = 5.5 }\n', 'c');
  assert.deepEqual(parsed.ok && parsed.value.values, {
    summarization: { keep_recent: 0 },
    prices: { 'm-1': { input: 1, output: 5.5 } },
  });
});

test('a whole number may be written as on the command line', () => {
  const text =
    '[summarization]\nmodel_max_tokens = "200k"\nkeep_recent = "1_000"\nmax_summary_tokens = 2_048\n' +
    '[embedding]\ndimensions = "1k"\n';
  const parsed = parseConfig(text, 'c');
  const summarization = { model_max_tokens: 200_000, keep_recent: 1000, max_summary_tokens: 2048 };
  assert.deepEqual(parsed.ok && parsed.value.values, { summarization, embedding: { dimensions: 1000 } });
});

for (const [what, text, problem] of [
  [
    'an unknown key is named with its line and the nearest known one',
    '[summarization]\n\nkeep_recents = 3\n',
    { line: 3, key: 'summarization.keep_recents', nearest: 'summarization.keep_recent' },
  ],
  [
    'a key without its table is reported with the table it belongs to',
    'chunk_size = 3\n',
    { line: 1, key: 'chunk_size', nearest: 'summarization.chunk_size' },
  ],
  [
    'an unknown table is named with the nearest known one',
    '[archiv]\npath = "x"\n',
    { line: 1, key: 'archiv', nearest: 'archive' },
  ],
  [
    'a value out of its range is reported with the allowed range',
    '[summarization]\nrecency_decay = 1.5\n',
    {
      line: 2,
      key: 'summarization.recency_decay',
      problem: 'must be a number above 0 and at most 1',
      found: '1.5',
      nearest: null,
    },
  ],
  [
    'a misspelled choice is reported with the nearest one',
    '[summarization]\nchunk_order = "chronologic"\n',
    {
      line: 2,
      key: 'summarization.chunk_order',
      problem: 'must be one of "chronological", "importance"',
      found: '"chronologic"',
      nearest: 'chronological',
    },
  ],
] as const) {
  test(what, () => {
    const kind = 'problem' in problem ? 'config-value' : 'config-unknown-key';
    assert.deepEqual(problemsOf(text), [{ kind, path: 'c.toml', ...problem }]);
  });
}

for (const [text, problem] of [
  ['[summarization]\nchunk_size = 0', 'must be a whole number of 1 or more (30000, "30k", "1.5M")'],
  ['[summarization]\nchunk_size = 2.5', 'must be a whole number of 1 or more (30000, "30k", "1.5M")'],
  ['[summarization]\nkeep_recent = -1', 'must be a whole number of 0 or more (30000, "30k", "1.5M")'],
  ['[summarization]\nkeep_recent = "5 of them"', 'must be a whole number of 0 or more (30000, "30k", "1.5M")'],
  ['[embedding]\ndimensions = "9k"', 'must be a whole number from 1 to 8192'],
  ['[summarization]\nkeyword_bonus = nan', 'must be a number of 0 or more'],
  ['[summarization]\nkeep_system = "yes"', 'must be true or false'],
  ['[summarization]\nprompt = ""', 'must not be empty'],
  ['[summarization]\nbase_url = "localhost:11434"', 'must be an http or https URL'],
  ['[summarization]\nimportant_keywords = "error"', 'must be a list of strings'],
  ['summarization = 3', 'must be a table'],
  ['[prices]\nm = { input = -1, output = 1 }', 'must be a number of 0 or more'],
] as const) {
  test(`${JSON.stringify(text)} ${problem}`, () => {
    assert.deepEqual(
      problemsOf(text).map((found) => (found.kind === 'config-value' ? found.problem : found.kind)),
      [problem],
    );
  });
}

test('all problems are reported together, in the order of the lines', () => {
  const found = problemsOf('[summarization]\nclip_frist = 1\nclip_last = -1\n[privacy]\nredact = 1\n');
  assert.deepEqual(
    found.map((problem) => ('line' in problem ? problem.line : null)),
    [2, 3, 5],
  );
});

test('invalid TOML is reported with line and column, and without an excerpt of the file', () => {
  const [problem] = problemsOf('[summarization]\napi_key = "sk-secret\n');
  assert.equal(problem?.kind, 'config-syntax');
  assert.equal(problem?.kind === 'config-syntax' && problem.line, 2);
  assert.doesNotMatch(JSON.stringify(problem), /sk-secret/);
});

test('a key that is wrong is never repeated', () => {
  const found = problemsOf('[summarization]\napi_key = 12345\n');
  assert.doesNotMatch(JSON.stringify(found), /12345/);
  assert.equal(found.length, 1);
});

test('a key named __proto__ is an error like any other', () => {
  assert.equal(problemsOf('[summarization.__proto__]\nx = 1\n').length, 1);
});

function lines(text: string, ...paths: readonly (readonly string[])[]): readonly (number | null)[] {
  const { lineOf } = locateKeys(text);
  return paths.map(lineOf);
}

test('a key of a table is located on the line of its assignment', () => {
  assert.deepEqual(
    lines('# head\n[a]\nx = 1\n\n  y = 2 # why\n[b]\nx = 3\n', ['a', 'x'], ['a', 'y'], ['b', 'x']),
    [3, 5, 7],
  );
});

test('text inside a value is not mistaken for a key', () => {
  const text = 'a = """\nb = 1\n\\""" still\n"""\nc = [\n  "d = [", # e = 2\n  1,\n]\nf = \'g = "\'\nb = 9\n';
  assert.deepEqual(lines(text, ['a'], ['b'], ['c'], ['f'], ['e']), [1, 10, 5, 9, null]);
});

test('dotted, quoted and escaped keys are found under their plain names', () => {
  const text = 'a.b = 1\n"c d".e = 2\n[x."y.z"]\n"\\u0041" = 3\n';
  assert.deepEqual(lines(text, ['a', 'b'], ['c d', 'e'], ['x', 'y.z', 'A']), [1, 2, 4]);
});

test('a key inside an inline table is located on the line of its table', () => {
  assert.deepEqual(lines('\n[prices]\nm = { input = 1, output = 2 }\n', ['prices', 'm', 'output']), [3]);
});

test('a table of tables and carriage returns do not shift the lines', () => {
  assert.deepEqual(lines('[[t]]\r\na = 1\r\n[[t]]\r\nb = 2\r\n', ['t', 'a'], ['t', 'b']), [2, 4]);
});
