import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { detectFormat, KNOWN_FORMATS, mayBeOf } from '../../../src/adapters/transcript/detect.ts';
import { parseText } from '../../../src/adapters/transcript/json.ts';
import { parseBeginning } from '../../../src/adapters/transcript/json-list/detect.ts';
import { findCodec, CODECS } from '../../support/codecs.ts';
import type { Json } from '../../../src/ports/codec.ts';

type JsonObject = { readonly [key: string]: Json };

async function formatOf(...sample: readonly Json[]): Promise<string | null> {
  const found = await detectFormat(sample);
  return found.kind === 'found' ? found.codec.format.name : null;
}

async function chatReason(...sample: readonly Json[]): Promise<string | undefined> {
  const found = await detectFormat(sample);
  return found.kind === 'unknown' ? found.near.find(({ format }) => format === 'chat-lines')?.reason : 'found';
}

const SAID: JsonObject = { role: 'user', content: 'hello' };

suite('the format of a file', () => {
  test('is chat lines for every dialect of them', async () => {
    const dialects: readonly (readonly JsonObject[])[] = [
      [SAID],
      [{ role: 'assistant', tool_calls: [] }],
      [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }],
      [{ id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'hi' }] }],
      [{ role: '_checkpoint', id: 0 }],
      [{ id: 1, conversation_id: 'c', role: 'user', content: 'x', created_at: '2031-01-01' }],
    ];
    assert.deepEqual(
      await Promise.all(dialects.map((sample) => formatOf(...sample))),
      dialects.map(() => 'chat-lines'),
    );
  });

  test('is chat lines where a few messages stand among other records', async () => {
    assert.equal(await formatOf({ note: 1 }, 7, null, SAID, { log: 'x' }), 'chat-lines');
  });

  test('is Claude Code where records have a parentUuid', async () => {
    const record = {
      type: 'user',
      parentUuid: null,
      uuid: 'a',
      sessionId: 's',
      message: { role: 'user', content: 'x' },
    };
    assert.equal(await formatOf(record), 'claude-code');
  });

  test('is Codex where records have a payload', async () => {
    assert.equal(await formatOf({ timestamp: 'x', type: 'session_meta', payload: { id: 'a' } }), 'codex');
  });

  test('is items of the Responses API for those, and for the rollouts of Codex that are such items', async () => {
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] };
    assert.deepEqual(
      [await formatOf(item), await formatOf({ id: 'a', timestamp: 'x', instructions: null, git: {} }, item)],
      ['responses-items', 'responses-items'],
    );
  });

  test('is pi where the first record is the header of a session', async () => {
    const entry = { type: 'message', id: 'b', parentId: null, timestamp: 'x', message: SAID };
    assert.equal(await formatOf({ type: 'session', version: 3, id: 'a' }, entry), 'pi');
  });

  test('is Gemini CLI for the metadata of a session, and where its answers are told', async () => {
    const answer = { id: 'b', timestamp: 'x', type: 'gemini', content: 'hello' };
    assert.deepEqual(
      [await formatOf({ sessionId: 'a', projectHash: 'b' }), await formatOf(answer)],
      ['gemini', 'gemini'],
    );
  });

  test('is not known without records', async () => {
    assert.equal(await formatOf(), null);
  });

  test('is not known for values without a role', async () => {
    assert.equal(await chatReason({ a: 1 }, [1], 'role', null, 5), 'no record has a role');
  });

  test('is not known where no role is text', async () => {
    assert.equal(await chatReason({ role: 5, content: 'x' }), 'no record has a role and content');
  });

  test('never throws, whatever the records are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue()), async (sample) => {
        await detectFormat(JSON.parse(JSON.stringify(sample)));
      }),
    );
  });
});

suite('the table of formats', () => {
  test('shows every codec the files that it would recognize, and single records of them', () => {
    const folder = 'fixtures/transcripts';
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.jsonl?$/.test(name));
    const samples = names.flatMap((name): readonly (readonly Json[])[] => {
      const text = readFileSync(join(folder, name), 'utf8');
      if (name.endsWith('.json')) return [[parseBeginning(text)]];
      const records = text.split('\n').flatMap((line) => parseText(line) ?? []);
      return [records.slice(0, 50), ...records.map((record) => [record])];
    });
    assert.ok(samples.length > 1000);
    for (const known of KNOWN_FORMATS) {
      const { detect } = findCodec(known.format.name) ?? assert.fail();
      for (const sample of samples)
        if (detect(sample).confidence >= 0.5 && !mayBeOf(known, sample)) assert.fail(JSON.stringify([known, sample]));
    }
  });

  test('finds each by its name, and nothing by another', () => {
    assert.deepEqual(
      CODECS.map(({ format }) => findCodec(format.name)),
      [...CODECS],
    );
    assert.equal(findCodec('chat'), null);
  });
});
