import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { chatLines } from '../../src/adapters/transcript/chat-lines/codec.ts';
import { conversationDocument } from '../../src/adapters/transcript/conversations/codec.ts';
import type { Codec, Json } from '../../src/ports/codec.ts';
import { TOOL_DIALECTS, type ToolDialect } from '../support/tool-dialects.ts';
import { benchFor } from '../support/workbench.ts';
import { runsOf } from '../support/runs.ts';

type Turn = { readonly says: string; readonly calls: number; readonly isAnsweredTogether: boolean };

const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({
    says: fc.constantFrom('Trim the jib, and tell me how far the sheet came in.', 'What does the log say of the wind?'),
    calls: fc.nat({ max: 3 }),
    isAnsweredTogether: fc.boolean(),
  }),
  { minLength: 4, maxLength: 10 },
);

/** A message, and the calls that it makes and answers. */
type Written = { readonly record: Json; readonly calls: readonly string[]; readonly answers: readonly string[] };

const LONG = 'The sheet came in by forty centimetres and the sail filled. '.repeat(12);

function write(dialect: ToolDialect, said: readonly Turn[]): readonly Written[] {
  return said.flatMap(({ says, calls, isAnsweredTogether }, turn) => {
    const ids = Array.from({ length: calls }, (_, at) => `call-${turn}-${at}`);
    const isTogether = isAnsweredTogether && dialect.name !== 'camel case';
    const groups = isTogether ? [ids] : ids.map((id) => [id]);
    const plain = (role: 'user' | 'assistant', text: string): Written => ({
      record: dialect.say(role, text),
      calls: [],
      answers: [],
    });
    const worked: readonly Written[] =
      calls === 0
        ? []
        : [
            { record: dialect.call(ids), calls: ids, answers: [] },
            ...groups.map((group) => ({ record: dialect.answer(group, `${LONG} ${turn}`), calls: [], answers: group })),
          ];
    return [plain('user', `${says} ${turn}`), ...worked, plain('assistant', `${LONG} It is done, ${turn}.`)];
  });
}

/** The calls and answers of messages, as the codec reads them: pairs of positions. */
function readPairs(codec: Codec, written: readonly Written[]): readonly string[] {
  const session = codec.open();
  const decoded = written.map(({ record }, at) => session.observe(record, at + 1));
  const caller = new Map<string, number>();
  return decoded.flatMap((one, at) => {
    assert.ok(!('problem' in one));
    for (const id of one.calls ?? []) caller.set(id, at);
    return (one.results ?? []).map((id) => `${caller.get(id)}-${at}`);
  });
}

function wantedPairs(written: readonly Written[]): readonly string[] {
  const caller = new Map(written.flatMap(({ calls }, at) => calls.map((id) => [id, at] as const)));
  return written.flatMap(({ answers }, at) => answers.map((id) => `${caller.get(id)}-${at}`));
}

for (const dialect of TOOL_DIALECTS) {
  suite(`calls and results of ${dialect.name}`, () => {
    test('belong together', () => {
      for (const codec of [chatLines, conversationDocument]) {
        fc.assert(
          fc.property(turns, (said) => {
            const written = write(dialect, said);
            assert.deepEqual(readPairs(codec, written), wantedPairs(written));
          }),
          { numRuns: 30 },
        );
      }
    });

    test('are never parted by a cut, in lines and in a document', async (t) => {
      const bench = benchFor(t);
      await fc.assert(
        fc.asyncProperty(turns, fc.nat({ max: 9 }), fc.boolean(), async (said, keepRecent, isDocument) => {
          const written = write(dialect, said);
          const texts = written.map(({ record }) => JSON.stringify(record));
          bench.write(
            'x.json',
            isDocument ? `{"messages": [${texts.join(',\n')}]}` : texts.map((one) => `${one}\n`).join(''),
          );
          const done = await bench.compact('x.json', { compaction: { keepRecent, maxSummaryTokens: 60 } });
          assert.ok(done.ok, JSON.stringify(done));
          const after = bench.read('x.json').toString();
          const stays = (at: number): boolean => after.includes(texts[at] ?? '');
          const first = texts.findIndex((_, at) => texts.slice(at).every((one) => after.includes(one)));
          const caller = new Map(written.flatMap(({ calls }, at) => calls.map((id) => [id, at] as const)));
          for (const { answers } of written.slice(Math.max(0, first)))
            for (const id of answers) assert.ok(stays(caller.get(id) ?? -1) && (caller.get(id) ?? -1) >= first, id);
        }),
        { numRuns: runsOf(12) },
      );
    });
  });
}
