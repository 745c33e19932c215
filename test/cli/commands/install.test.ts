import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { run } from '../../../src/cli/run.ts';
import { folderWith } from '../../support/folders.ts';
import { createFakeTerminal, createFakeUseCases } from '../fakes.ts';

const SETTINGS =
  '{\r\n\t"model": "opus",\r\n\t"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "mine"}]}]}\r\n}';
const CLAUDE = { '.claude/settings.json': SETTINGS, '.claude.json': '{"numStartups":3,"mcpServers":{}}' };

function createHome(t: TestContext, files: { readonly [path: string]: string }) {
  const home = folderWith(t, files);
  const at = (path: string): string => join(home, path);
  const read = (path: string): string => readFileSync(at(path), 'utf8');
  const install = async (...args: readonly string[]) => {
    const terminal = createFakeTerminal(['install', ...args], { homeFolder: home, workingFolder: home });
    const code = await run({ terminal, ...createFakeUseCases() });
    return { code, out: terminal.out(), errors: terminal.errors() };
  };
  return { home, at, read, install };
}

function snapshot(home: string): Readonly<Record<string, string>> {
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => !path.includes('.local'));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'latin1')]));
}

test('Claude Code gets hooks and the MCP server, is said to have them, and has neither after --undo', async (t) => {
  const { home, read, install } = createHome(t, CLAUDE);
  const before = snapshot(home);
  const installed = await install('claude');
  assert.equal(installed.code, 0, installed.errors);
  assert.match(installed.out, /^\+ .*"compact hook claude PreCompact"/m);
  const { hooks } = JSON.parse(read('.claude/settings.json'));
  assert.deepEqual(Object.keys(hooks), ['PreCompact', 'SessionStart', 'SessionEnd']);
  assert.equal(hooks.PreCompact[0].hooks[0].command, 'mine');
  assert.equal(hooks.SessionStart[0].matcher, 'compact');
  assert.deepEqual(JSON.parse(read('.claude.json')).mcpServers.compact.args, ['mcp']);
  assert.match((await install('--status')).out, /^Claude Code +installed$/m);
  const after = snapshot(home);
  assert.match((await install('claude')).out, /already installed/);
  assert.deepEqual(snapshot(home), after);
  const undone = await install('--undo', '-q');
  assert.deepEqual([undone.code, undone.out], [0, '']);
  assert.deepEqual(snapshot(home), before);
  assert.match((await install('--status')).out, /^Claude Code +not installed$/m);
  assert.ok(!existsSync(join(home, '.local/state/compact/installed/claude.json')));
});

test('a dry run shows the changes and writes nothing', async (t) => {
  const { home, install } = createHome(t, CLAUDE);
  const before = snapshot(home);
  const { code, out } = await install('-n');
  assert.equal(code, 0);
  assert.match(out, /"compact hook claude PreCompact"[\s\S]*nothing was written \(dry run\)/);
  assert.deepEqual(snapshot(home), before);
});

test('what was changed since is kept when ours is taken out', async (t) => {
  const { at, read, install } = createHome(t, CLAUDE);
  await install('claude');
  writeFileSync(at('.claude.json'), JSON.stringify({ ...JSON.parse(read('.claude.json')), numStartups: 4 }, null, 2));
  writeFileSync(
    at('.claude/settings.json'),
    read('.claude/settings.json').replace('hook claude PreCompact', '-v hook claude PreCompact'),
  );
  assert.match((await install('--status')).out, /^Claude Code +changed since/m);
  assert.equal((await install('--undo')).code, 0);
  assert.deepEqual(JSON.parse(read('.claude.json')), { numStartups: 4 });
});

test('broken settings are refused with line and column, and no file is changed', async (t) => {
  const { home, install } = createHome(t, { ...CLAUDE, '.claude.json': '{\n  "a": 1,\n}\n' });
  const before = snapshot(home);
  const { code, errors } = await install();
  assert.equal(code, 1);
  assert.match(errors, /^Claude Code: .*\.claude\.json:3:1: it is not valid JSON/);
  assert.deepEqual(snapshot(home), before);
});

test('text that is not UTF-8, and a folder in the place of a file, are refused', async (t) => {
  const { at, install } = createHome(t, { '.claude/settings.json/': '' });
  assert.match((await install()).errors, /settings\.json: .*folder/);
  const other = createHome(t, CLAUDE);
  writeFileSync(other.at('.claude.json'), Buffer.from([0x7b, 0xff, 0x7d]));
  assert.match((await other.install()).errors, /\.claude\.json:1:1: it is not UTF-8 text/);
  assert.ok(lstatSync(at('.claude/settings.json')).isDirectory());
});

test('a link stays a link, and its target is written', async (t) => {
  const { home, at, read, install } = createHome(t, {
    '.claude/': '',
    'dotfiles/claude.json': '{\n  "model": "opus"\n}\n',
  });
  symlinkSync('../dotfiles/claude.json', at('.claude/settings.json'));
  const before = snapshot(home);
  assert.equal((await install()).code, 0);
  assert.ok(lstatSync(at('.claude/settings.json')).isSymbolicLink());
  assert.match(read('dotfiles/claude.json'), /hook claude PreCompact/);
  await install('--undo');
  assert.deepEqual(snapshot(home), before);
  assert.ok(lstatSync(at('.claude/settings.json')).isSymbolicLink());
});

test('a link to nothing is created through, and left when ours is taken out', async (t) => {
  const { at, install } = createHome(t, { '.claude/': '', 'dotfiles/': '' });
  symlinkSync('../dotfiles/claude.json', at('.claude/settings.json'));
  await install();
  assert.ok(existsSync(at('dotfiles/claude.json')));
  await install('--undo');
  assert.ok(!existsSync(at('dotfiles/claude.json')));
  assert.ok(lstatSync(at('.claude/settings.json')).isSymbolicLink());
});

test('the mode of a file stays', async (t) => {
  const { at, install } = createHome(t, CLAUDE);
  chmodSync(at('.claude.json'), 0o640);
  await install();
  assert.equal(lstatSync(at('.claude.json')).mode & 0o777, 0o640);
});

test("an MCP server of the user's with our name stays, and the user hears of it", async (t) => {
  const mine = '{"mcpServers":{"compact":{"command":"compact","args":["mcp","--redact"]}}}';
  const { read, install } = createHome(t, { ...CLAUDE, '.claude.json': mine });
  assert.match((await install()).out, /mcpServers\.compact: already in use in Claude Code, and left as it is/);
  assert.equal(read('.claude.json'), mine);
  assert.match((await install('--status')).out, /^Claude Code +installed\n.*already in use/m);
  await install('--undo');
  assert.equal(read('.claude.json'), mine);
});

test('a client that is not there gets nothing', async (t) => {
  const { home, install } = createHome(t, {});
  const named = await install('claude');
  assert.deepEqual([named.code, named.out], [1, 'Claude Code: not found on this machine.\n']);
  assert.equal((await install()).code, 0);
  assert.match((await install('--status')).out, /^Claude Code +client not found$/m);
  assert.deepEqual(snapshot(home), {});
});

test('a project has no say: its settings and its configuration are neither read nor written', async (t) => {
  const { home, at, read, install } = createHome(t, {
    ...CLAUDE,
    'compact.toml': '[archive]\npath = "stolen.db"\n[broken',
    'project/.claude/settings.json': '{',
  });
  mkdirSync(at('project/.git'));
  const before = snapshot(at('project'));
  assert.equal((await install()).code, 0);
  assert.deepEqual(snapshot(at('project')), before);
  assert.ok(!read('.claude/settings.json').includes(home) && !read('.claude.json').includes('stolen'));
});

test('reports are JSON, one line per client', async (t) => {
  const { install } = createHome(t, CLAUDE);
  const { out } = await install('claude', '--json');
  const { schema, client, state, result, files } = JSON.parse(out);
  assert.deepEqual([schema, client, state, result], ['compact/install@1', 'claude', 'absent', 'installed']);
  assert.deepEqual(
    files.map(({ change }: { readonly change: string }) => change),
    ['edited', 'edited'],
  );
});

test('Codex gets hooks and the MCP server in two files, and both are as before after --undo', async (t) => {
  const config = 'model = "gpt-5"\n\n[tui]\nnotifications = true # mine\n';
  const { home, read, install } = createHome(t, { '.codex/config.toml': config });
  const before = snapshot(home);
  const { code, out } = await install('codex');
  assert.equal(code, 0);
  assert.match(out, /type \/hooks/);
  assert.ok(read('.codex/config.toml').startsWith(config));
  assert.deepEqual(Object.keys(JSON.parse(read('.codex/hooks.json')).hooks), [
    'PreCompact',
    'SessionStart',
    'SessionEnd',
  ]);
  assert.match((await install('--status')).out, /^Claude Code +client not found\nCodex +installed$/m);
  await install('--undo');
  assert.deepEqual(snapshot(home), before);
});

test('pi gets an extension that it can load, and its folder is gone after --undo', async (t) => {
  const { home, at, install } = createHome(t, { '.pi/agent/settings.json': '{}' });
  const before = snapshot(home);
  assert.equal((await install('pi')).code, 0);
  assert.equal(typeof (await import(at('.pi/agent/extensions/compact.js'))).default, 'function');
  assert.equal((await install('pi', '--undo')).code, 0);
  assert.deepEqual(snapshot(home), before);
  assert.ok(!existsSync(at('.pi/agent/extensions')));
});

test('OpenCode gets a plugin that it can load and the MCP server, and both are gone after --undo', async (t) => {
  const settings = '{\n  // mine\n  "theme": "system",\n}\n';
  const { home, at, read, install } = createHome(t, { '.config/opencode/opencode.jsonc': settings });
  const before = snapshot(home);
  const installed = await install('opencode');
  assert.match(installed.out, /OpenCode: installed\.[\s\S]*has not downloaded it yet/);
  assert.match(read('.config/opencode/opencode.jsonc'), /\/\/ mine[\s\S]*"compact",\s*"mcp"/);
  const plugin = read('.config/opencode/plugins/compact.js');
  const [, path = ''] = /from "(.+)"/.exec(plugin) ?? [];
  const { createPlugin } = await import(path);
  const { id, server } = createPlugin({ command: 'compact', args: [] });
  assert.deepEqual([id, Object.keys(await server({ client: {} })).length], ['compact', 4]);
  assert.match((await install('--status')).out, /^OpenCode +installed\n +OpenCode needs its own package/m);
  mkdirSync(at('.config/opencode/node_modules/@opencode-ai/plugin'), { recursive: true });
  assert.match((await install('--status')).out, /^OpenCode +installed\n$/m);
  assert.equal((await install('opencode', '--undo')).code, 0);
  assert.deepEqual(snapshot(home), before);
  assert.ok(!existsSync(at('.config/opencode/plugins')));
});

test("an extension of the user's with our name is left alone", async (t) => {
  const { read, install } = createHome(t, { '.pi/agent/extensions/compact.js': '// mine' });
  assert.match((await install('pi')).out, /compact\.js: already in use in pi, and left as it is/);
  await install('pi', '--undo');
  assert.equal(read('.pi/agent/extensions/compact.js'), '// mine');
});

test('Gemini CLI gets an extension with hooks and the MCP server, and nothing is left of it after --undo', async (t) => {
  const { home, at, read, install } = createHome(t, { '.gemini/settings.json': '{}' });
  const before = snapshot(home);
  assert.equal((await install('gemini')).code, 0);
  assert.equal((await install('gemini')).out, 'Gemini CLI: already installed, nothing to do.\n');
  const { mcpServers } = JSON.parse(read('.gemini/extensions/compact/gemini-extension.json'));
  assert.deepEqual(mcpServers, { compact: { command: 'compact', args: ['mcp'] } });
  const { hooks } = JSON.parse(read('.gemini/extensions/compact/hooks/hooks.json'));
  assert.deepEqual(Object.keys(hooks), ['PreCompress', 'SessionEnd']);
  assert.equal((await install('gemini', '--undo')).code, 0);
  assert.deepEqual(snapshot(home), before);
  assert.ok(!existsSync(at('.gemini/extensions')));
});

test('the plugin has the hooks that are installed, and the version of the package', async (t) => {
  const root = join(import.meta.dirname, '../../..');
  const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
  const { read, install } = createHome(t, { '.codex/config.toml': '' });
  await install('codex');
  const installed = read('.codex/hooks.json').replaceAll('hook codex', 'hook claude');
  assert.deepEqual(readJson('bin/plugin/hooks/hooks.json'), JSON.parse(installed));
  for (const client of ['claude', 'codex']) {
    assert.equal(readJson(`bin/plugin/.${client}-plugin/plugin.json`).version, readJson('package.json').version);
  }
});
