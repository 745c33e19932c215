import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, reportOf } from '../support/workbench.ts';

test('the last line of a clip-archive says how to look further, with a key that no other original has', async (t) => {
  const bench = benchFor(t);
  const lastLine = async (name: string, turns: number): Promise<string> => {
    bench.write(name, chatTranscript(turns));
    reportOf(await bench.compact(name));
    const [clip = ''] = bench.read(name).toString().split('\n');
    return JSON.parse(clip).content.split('\n').at(-1);
  };
  const form =
    /^\[Archive: ([0-9a-f]{12}) holds what left; `compact search WORDS` \(memory_read\) finds it, `compact show LABEL` \(memory_expand\) shows it\]$/;
  const one = form.exec(await lastLine('one.jsonl', 30));
  const other = form.exec(await lastLine('other.jsonl', 31));
  assert.ok(one !== null && other !== null);
  assert.notEqual(one[1], other[1]);
});
