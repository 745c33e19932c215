import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactedPath, isCompacted, isTranscriptName, restoredPath } from '../../src/compose/transcript-files.ts';

for (const [input, output] of [
  ['x.jsonl', 'x.compact.jsonl'],
  ['./x.jsonl', './x.compact.jsonl'],
  ['../a.b/x.y.jsonl', '../a.b/x.y.compact.jsonl'],
  ['/x.jsonl.zst', '/x.compact.jsonl.zst'],
  ['x.JSON', 'x.compact.JSON'],
  ['x.ndjson.gz', 'x.compact.ndjson.gz'],
  ['log.eval', 'log.compact.eval'],
  ['notes.txt', 'notes.txt.compact.jsonl'],
  ['talk', 'talk.compact.jsonl'],
  ['d/.jsonl', 'd/.jsonl.compact.jsonl'],
] as const) {
  test(`${input} is compacted to ${output}`, () => {
    assert.equal(compactedPath(input), output);
    assert.equal(isCompacted(output), true);
  });
}

test('only a name with .compact before its ending is one of ours', () => {
  assert.deepEqual(['x.jsonl', 'compact.jsonl', 'x.compacted.jsonl', 'x.compact.d.jsonl'].filter(isCompacted), []);
});

test('a folder is searched for JSON Lines, packed or not', () => {
  const names = ['x.jsonl', 'x.jsonl.zst', 'X.JSONL.GZ', 'x.json', 'x.zst', 'x.tar.gz', 'x.jsonl.xz', 'jsonl.gz'];
  assert.deepEqual(names.filter(isTranscriptName), ['x.jsonl', 'x.jsonl.zst', 'X.JSONL.GZ']);
});

test('a restored file does not take the name of its original, which may still be there', () => {
  assert.equal(restoredPath('d/x.compact.jsonl'), 'd/x.restored.jsonl');
  assert.equal(restoredPath('x.jsonl'), 'x.restored.jsonl');
  assert.equal(restoredPath('x.compact.jsonl.zst'), 'x.restored.jsonl.zst');
});
