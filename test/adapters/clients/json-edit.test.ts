import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { createJsonEdit, type JsonEntry } from '../../../src/adapters/clients/json-edit.ts';
import { hookEntry } from '../../../src/adapters/clients/clients.ts';
import type { FileEdit } from '../../../src/ports/clients.ts';

const isOurs = (value: unknown): boolean => JSON.stringify(value ?? null).includes('OURS');
const HOOK: JsonEntry = { keys: ['hooks', 'End'], kind: 'item', value: { run: 'OURS' }, isOurs };
const SERVER: JsonEntry = { keys: ['servers', 'compact'], kind: 'value', value: { env: 'OURS' }, isOurs };

function edit(entries: readonly JsonEntry[] = [HOOK, SERVER], allowsComments = false): FileEdit {
  return createJsonEdit({ path: 'settings.json', entries, allowsComments });
}

function add(text: string | null, one = edit()): string {
  const added = one.add(text);
  assert.ok(added.ok, JSON.stringify(added));
  return added.value;
}

function remove(text: string, one = edit()): string {
  return one.remove(text).text;
}

test('a file that is not there gets our values, and is empty again without them', () => {
  const text = add(null);
  assert.deepEqual(JSON.parse(text), { hooks: { End: [{ run: 'OURS' }] }, servers: { compact: { env: 'OURS' } } });
  assert.deepEqual(edit().remove(text), { text: '{}\n', isEmpty: true });
});

const STYLES: Readonly<Record<string, string>> = {
  'two spaces': '{\n  "a": 1,\n  "b": [1, 2]\n}\n',
  'tabs and CRLF without an end of line': '{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"Start": []\r\n\t}\r\n}',
  'a BOM': '\uFEFF{\n    "a": 1\n}\n',
  'one line': '{"a":1,"hooks":{"End":[{"run":"mine"}]}}',
  'an object with a list on one line': '{\n  "hooks": { "End": [{ "run": "mine" }] }\n}\n',
  'a list over several lines':
    '{\n  "hooks": {\n    "End": [\n      {\n        "run": "mine"\n      }\n    ]\n  }\n}\n',
};

for (const [name, text] of Object.entries(STYLES)) {
  test(`${name}: the rest of the file stays byte for byte, also after our values are removed`, () => {
    const added = add(text);
    assert.deepEqual(edit().inspect(added), { ok: true, value: { state: 'installed', taken: [] } });
    assert.equal(add(added), added);
    assert.equal(added.includes('\r\n'), text.includes('\r\n'));
    assert.equal(/(?<!\r)\n/.test(added), /(?<!\r)\n/.test(text));
    assert.equal(remove(added), text);
  });
}

test('in any JSON file, all other values stay as they are', () => {
  const rest = fc.dictionary(fc.constantFrom('a', 'b', 'hooks', 'servers'), fc.dictionary(fc.string(), fc.jsonValue()));
  const indents = fc.constantFrom<string | number>(0, 1, 2, 4, '\t');
  fc.assert(
    fc.property(rest, indents, (value, indent) => {
      fc.pre(!Object.hasOwn(value['hooks'] ?? {}, 'End') && !Object.hasOwn(value['servers'] ?? {}, 'compact'));
      const text = JSON.stringify(value, null, indent);
      const added = add(text);
      const { hooks: { End: ends, ...hooks } = { End: null }, servers: { compact, ...servers } = {} } =
        JSON.parse(added);
      assert.deepEqual([ends, compact], [[HOOK.value], SERVER.value]);
      const full = { ...value, hooks: value['hooks'] ?? {}, servers: value['servers'] ?? {} };
      assert.deepEqual({ ...JSON.parse(added), hooks, servers }, JSON.parse(JSON.stringify(full)));
      const isEmptied = [value['hooks'], value['servers']].some(
        (one) => one !== undefined && Object.keys(one).length === 0,
      );
      if (!isEmptied) assert.equal(remove(added), text);
    }),
  );
});

test('comments and trailing commas stay where the client allows them', () => {
  const one = edit([HOOK, SERVER], true);
  const text = '{\n  // first\n  "a": 1, // one\n  "hooks": {\n    "Start": [], /* more */\n  },\n  // last\n}\n';
  const added = add(text, one);
  const value: unknown = parse(added);
  assert.deepEqual(value, { a: 1, hooks: { Start: [], End: [HOOK.value] }, servers: { compact: SERVER.value } });
  for (const comment of ['// first', '// one', '/* more */', '// last']) assert.ok(added.includes(comment));
  const removed = remove(added, one);
  assert.deepEqual(parse(removed), { a: 1, hooks: { Start: [] } });
  for (const comment of ['// first', '// one', '/* more */', '// last']) assert.ok(removed.includes(comment));
});

test('a comment in front of ours swallows nothing when ours is removed', () => {
  const text = '{\n  "servers": { // c\n"compact": { "env": "OURS" }, "o": 1 }\n}\n';
  assert.deepEqual(parse(remove(text, edit([SERVER], true))), { servers: { o: 1 } });
});

test('broken JSON is refused with its line and column', () => {
  for (const [text, line, column] of [
    ['{\n  "a": 1,\n}\n', 3, 1],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ['// note\n{}', 1, 1],
    ['[1]', 1, 1],
    ['{"hooks": [1]}', 1, 11],
    ['{"hooks": {"End": 3}}', 1, 19],
  ] as const) {
    for (const result of [edit().add(text), edit().inspect(text)]) {
      assert.ok(!result.ok, text);
      assert.deepEqual([result.error.line, result.error.column], [line, column], text);
    }
  }
});

test('a value under our name that is not ours is left alone', () => {
  const text = '{\n  "servers": {\n    "compact": { "mine": true }\n  }\n}\n';
  assert.deepEqual(edit([SERVER]).inspect(text), { ok: true, value: { state: 'absent', taken: ['servers.compact'] } });
  assert.equal(add(text, edit([SERVER])), text);
  assert.equal(remove(text, edit([SERVER])), text);
});

test('what another version wrote is replaced', () => {
  const text = '{ "hooks": { "End": [{ "run": "mine" }, { "run": "OURS, old" }] } }';
  assert.deepEqual(edit([HOOK]).inspect(text), { ok: true, value: { state: 'changed', taken: [] } });
  assert.deepEqual(JSON.parse(add(text, edit([HOOK]))), { hooks: { End: [{ run: 'mine' }, HOOK.value] } });
});

test('a hook that the user added to our group stays, when ours is replaced and when it is removed', () => {
  const launch = { command: 'compact', args: [] };
  const host = { launch, homeFolder: '/home/kim', environment: {} } as unknown as Parameters<typeof hookEntry>[0];
  const entry = hookEntry(host, { client: 'claude', event: 'PreCompact', timeout: 10 });
  const mine = { type: 'command', command: 'echo mine' };
  const group = { hooks: [{ type: 'command', command: '/old/compact hook claude PreCompact', timeout: 5 }, mine] };
  const text = JSON.stringify({ hooks: { PreCompact: [group] } });
  const one = edit([entry]);
  assert.deepEqual(JSON.parse(remove(text, one)), { hooks: { PreCompact: [{ hooks: [mine] }] } });
  assert.deepEqual(JSON.parse(add(text, one)), { hooks: { PreCompact: [{ hooks: [mine] }, entry.value] } });
  assert.deepEqual(JSON.parse(remove(add(text, one), one)), { hooks: { PreCompact: [{ hooks: [mine] }] } });
});
