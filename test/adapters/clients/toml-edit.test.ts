import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse as parseToml } from 'smol-toml';
import { createTomlEdit } from '../../../src/adapters/clients/clients.ts';

const edit = createTomlEdit({ path: 'config.toml', table: 'mcp_servers.compact', lines: ['command = "compact"'] });

/** Objects of the parser have no prototype. */
function parse(text: string): unknown {
  return JSON.parse(JSON.stringify(parseToml(text)));
}

function add(text: string | null): string {
  const added = edit.add(text);
  assert.ok(added.ok, JSON.stringify(added));
  return added.value;
}

function remove(text: string): string {
  return edit.remove(text).text;
}

for (const [name, text] of Object.entries({
  'an empty file': '',
  'a table at the end': 'model = "gpt-5"\n\n[projects."/x"]\ntrust_level = "trusted" # mine\n',
  'CRLF and a BOM': '\uFEFFmodel = "gpt-5"\r\n[tui]\r\ntheme = "x"\r\n',
  'another MCP server': '[mcp_servers.other]\ncommand = "other"\n',
})) {
  test(`${name}: the table is added once, and the rest is the same bytes after it is removed`, () => {
    const added = add(text);
    assert.ok(added.startsWith(text));
    assert.equal(/(?<!\r)\n/.test(added), text.includes('\n') ? /(?<!\r)\n/.test(text) : true);
    const value = parse(added.replace('\uFEFF', ''));
    assert.deepEqual(Object.entries(Object(Object(value).mcp_servers)).at(-1), ['compact', { command: 'compact' }]);
    assert.deepEqual(edit.inspect(added), { ok: true, value: { state: 'installed', taken: [] } });
    assert.equal(add(added), added);
    assert.equal(remove(added), text);
  });
}

test("what a client puts between the marks stays, and the user's change of our table goes with it", () => {
  const added = add('model = "gpt-5"\n');
  const changed = added
    .replace('command = "compact"', 'command = "compact"\nenabled = false\n\n[mcp_servers.compact.env]\nA = "1"')
    .replace('# <<<', '\n[projects."/x"]\ntrust_level = "trusted"\n\n# <<<');
  assert.deepEqual(edit.inspect(changed), { ok: true, value: { state: 'changed', taken: [] } });
  assert.deepEqual(parse(remove(changed)), { model: 'gpt-5', projects: { '/x': { trust_level: 'trusted' } } });
  assert.deepEqual(parse(add(changed)), {
    model: 'gpt-5',
    projects: { '/x': { trust_level: 'trusted' } },
    mcp_servers: { compact: { command: 'compact' } },
  });
});

test("a table of the user's with our name is left alone", () => {
  const text = '[mcp_servers.compact]\ncommand = "mine"\n';
  assert.deepEqual(edit.inspect(text), { ok: true, value: { state: 'absent', taken: ['mcp_servers.compact'] } });
  assert.equal(add(text), text);
  assert.equal(remove(text), text);
});

test('broken TOML is refused with its line and column', () => {
  for (const result of [edit.inspect('a = 1\nb = \n'), edit.add('a = 1\nb = \n')]) {
    assert.ok(!result.ok);
    assert.equal(result.error.line, 2);
    assert.match(result.error.problem, /^it is not valid TOML \(.+\)$/);
  }
});

test('a file that cannot be extended by a table is refused', () => {
  for (const text of ['mcp_servers = {}\n', 'mcp_servers = { other = { command = "x" } }\n']) {
    const added = edit.add(text);
    assert.ok(!added.ok, text);
    assert.match(added.error.problem, /^\[mcp_servers\.compact\] cannot be added to it/);
  }
});

test('a table whose name only begins like ours stays', () => {
  const other = '[mcp_servers.compactor]\ncommand = "other"\n\n';
  const changed = add('model = "x"\n')
    .replace('command = "compact"\n', 'command = "mine"\n')
    .replace('# <<<', `${other}# <<<`);
  assert.deepEqual(parse(remove(changed)), { model: 'x', mcp_servers: { compactor: { command: 'other' } } });
});
