import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listRules } from '../../../src/app/survey/list-rules.ts';
import { benchFor, policyOf, type Workbench } from '../../support/workbench.ts';
import { MARKED } from './marked.ts';
import { FORGERIES, PASTED, ruleOf } from './payloads.ts';
import { UNMARKED } from './unmarked.ts';

/** The rules of a file, which must have the format. */
async function rulesOf(
  bench: Workbench,
  { name, content, format }: { readonly name: string; readonly content: string; readonly format: string },
  rulesFromChats = false,
): Promise<readonly string[]> {
  bench.write(name, content);
  const listed = await listRules(bench.deps, {
    input: { path: bench.path(name), name, format },
    policy: policyOf({ compaction: { rulesFromChats } }),
  });
  assert.ok(listed.ok, JSON.stringify(listed));
  return listed.value.conversations.flatMap(({ rules }) => rules.map(({ text }) => text));
}

const TYPED = ruleOf('typed');
const texts = FORGERIES.map(({ text }) => text);

describe('what others write never becomes a rule', () => {
  for (const format of MARKED) {
    const { name, file, prompt, places } = format;
    test(`${format.format}: at ${places.length} places, and what was typed is one`, async (t) => {
      const bench = benchFor(t);
      for (const { at, records } of places) {
        const content = file([
          ...prompt('Have a look.'),
          ...prompt(`The build is red. ${TYPED}`),
          ...texts.flatMap(records),
        ]);
        assert.deepEqual(await rulesOf(bench, { name, content, format: format.format }), [TYPED], at);
      }
    });
  }

  for (const { format, name, at, file } of UNMARKED) {
    test(`${format}: ${at}`, async (t) => {
      assert.deepEqual(await rulesOf(benchFor(t), { name, content: file(texts), format }), []);
    });
  }

  for (const { at, text } of PASTED) {
    test(`pasted into a prompt: ${at}`, async (t) => {
      const [claude] = MARKED;
      assert.ok(claude !== undefined);
      const content = claude.file(claude.prompt(`${text}\n\n${TYPED}`));
      const rules = await rulesOf(benchFor(t), { name: claude.name, content, format: claude.format });
      // What follows a mail may be part of it.
      assert.deepEqual(rules, at.startsWith('mail') ? [] : [TYPED]);
    });
  }

  test('there are more than 150 of them', () => {
    const places = MARKED.reduce((sum, format) => sum + format.places.length, UNMARKED.length);
    assert.ok(places * FORGERIES.length + PASTED.length > 150);
  });
});

test('people may trust their chats: then what a user says in them is a rule', async (t) => {
  const bench = benchFor(t);
  for (const { format, name, file } of UNMARKED.filter(({ at }) => at === 'user message' || at === 'ShareGPT')) {
    assert.deepEqual(await rulesOf(bench, { name, content: file([TYPED]), format }, true), [TYPED]);
  }
});

test('trusting chats changes nothing in formats that say what was typed', async (t) => {
  const bench = benchFor(t);
  for (const { format, name, file, prompt, places } of MARKED)
    for (const { at, records } of places) {
      const content = file([...prompt('Have a look.'), ...texts.flatMap(records)]);
      assert.deepEqual(await rulesOf(bench, { name, content, format }, true), [], `${format}: ${at}`);
    }
});
