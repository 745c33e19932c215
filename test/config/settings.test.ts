import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listSettings } from '../../src/config/origins.ts';
import { parseConfig } from '../../src/config/parse.ts';
import { resolveSettings, type SettingFlags, toModel, toPolicy } from '../../src/config/resolve.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { DEFAULT_COMPACTION_CONFIG, DEFAULT_SCORING_CONFIG } from '../../src/core/policy.ts';
import { configOf, NO_CONFIG, surroundingsOf } from './fakes.ts';

const host = surroundingsOf();
const noRequest = { targetTokens: null, ifOver: null, conversation: null } as const;

function given(text: string, flags: SettingFlags = {}) {
  const parsed = parseConfig(text, '/repo/compact.toml');
  assert.ok(parsed.ok);
  const config = configOf(parsed.value.values, { path: '/repo/compact.toml', lines: parsed.value.lines });
  return { config, flags, host, settings: resolveSettings({ config, flags, host }) };
}

test('with nothing set the policy is that of the core, with one summary of everything', () => {
  const { settings } = given('');
  assert.deepEqual(toPolicy(settings, noRequest), {
    compaction: {
      ...DEFAULT_COMPACTION_CONFIG,
      summaryTokens: 4096,
      scoring: { ...DEFAULT_SCORING_CONFIG, roleWeightTool: 5 },
    },
    chunkOrder: 'chronological',
    keepSystem: true,
    targetTokens: null,
    ifOverTokens: null,
    keepInvalid: false,
    conversation: null,
  });
  assert.deepEqual(toModel(settings), { provider: 'extractive', modelName: 'extractive' });
});

test('flags win over the file, the file over the defaults', () => {
  const text = '[summarization]\nkeep_recent = 9\nclip_first = 3\n[transcript]\nkeep_invalid = true\n';
  const { settings } = given(text, { summarization: { keep_recent: 0 } });
  const { compaction, keepInvalid } = toPolicy(settings, noRequest);
  assert.deepEqual([compaction.keepRecent, compaction.clipFirst, compaction.clipLast, keepInvalid], [0, 3, 2, true]);
});

test('a flag that is not given does not erase what the file says', () => {
  const { settings } = given('[summarization]\nkeep_recent = 9\n', { summarization: {}, transcript: {}, archive: {} });
  assert.equal(settings.summarization.keep_recent, 9);
});

test('a provider that asks a model gets its own chunk size, unless one is set', () => {
  assert.equal(given('[summarization]\nprovider = "ollama"').settings.summarization.chunk_size, 20);
  const both = given('[summarization]\nprovider = "ollama"\nchunk_size = 7\nname = "m"').settings;
  assert.equal(both.summarization.chunk_size, 7);
  assert.deepEqual(toModel(both), { provider: 'ollama', modelName: 'm' });
});

test('offline there is one summary, unless chunks are asked for', () => {
  const compaction = (text: string, flags: SettingFlags = {}) =>
    toPolicy(given(text, flags).settings, noRequest).compaction;
  assert.equal(compaction('[summarization]\nsummary_tokens = "2k"').summaryTokens, 2000);
  assert.equal(compaction('', { summarization: { summary_tokens: 900 } }).summaryTokens, 900);
  for (const chunks of ['chunk_size = 50', 'max_chunk_tokens = 9000', 'provider = "ollama"'])
    assert.equal(compaction(`[summarization]\n${chunks}`).summaryTokens, undefined, chunks);
  assert.equal(compaction('[summarization]\nchunk_size = 50').chunkSize, 50);
  assert.equal(compaction('', { summarization: { chunk_size: 7 } }).summaryTokens, undefined);
});

test('the budget is the share of the window', () => {
  const { settings } = given('[summarization]\ncontext_budget = 0.5\nmodel_max_tokens = 1001\n');
  assert.equal(toPolicy(settings, { ...noRequest, ifOver: 'budget' }).ifOverTokens, 500);
  assert.equal(toPolicy(settings, { ...noRequest, ifOver: 77 }).ifOverTokens, 77);
});

test("the archive's path is relative to the file that names it, or to the working folder on the command line", () => {
  const path = (text: string, flags: SettingFlags = {}) => given(text, flags).settings.archive.path;
  assert.equal(path('[archive]\npath = "a.db"'), '/repo/a.db');
  assert.equal(path('[archive]\npath = "~/a.db"'), '/home/u/a.db');
  assert.equal(path('[archive]\npath = "a.db"', { archive: { path: 'b.db' } }), '/work/b.db');
  assert.equal(path(''), '/home/u/.local/share/compact/archive.db');
});

test('an archive in a database is named by its URL, and --archive wins', () => {
  const file = '[archive]\npath = "a.db"\nurl = "postgres://ann@db.example/logs"';
  assert.equal(given(file).settings.archive.path, 'postgres://ann@db.example/logs');
  assert.equal(given(file, { archive: { path: 'b.db' } }).settings.archive.path, '/work/b.db');
});

test("a team's schema is for every database whose URL names none", () => {
  const path = (text: string, flags: SettingFlags = {}) =>
    given(`[archive]\nschema = "team_a"\n${text}`, flags).settings.archive.path;
  assert.equal(path('url = "postgres://db.example/logs"'), 'postgres://db.example/logs?schema=team_a');
  assert.equal(path('url = "postgres:///logs?port=1"'), 'postgres:///logs?port=1&schema=team_a');
  assert.equal(
    path('', { archive: { path: 'postgres://db.example/logs' } }),
    'postgres://db.example/logs?schema=team_a',
  );
  assert.equal(path('url = "postgres://db.example/logs?schema=other"'), 'postgres://db.example/logs?schema=other');
  assert.equal(path('path = "a.db"'), '/repo/a.db');
});

test('an archive in a database is listed as a URL, not as a path', () => {
  const rows = (text: string) =>
    listSettings(given(text))
      .filter(({ table, key }) => table === 'archive' && (key === 'path' || key === 'url'))
      .map(({ key, value, origin }) => [key, value, origin.kind]);
  const url = ['url', 'postgres://ann@db.example/logs', 'file'];
  assert.deepEqual(rows(`[archive]\nurl = "${url[1]}"`), [['path', null, 'default'], url]);
  assert.deepEqual(rows(`[archive]\npath = "a.db"\nurl = "${url[1]}"`), [['path', 'a.db', 'file'], url]);
});

test('a password in the file is refused, and not repeated', () => {
  for (const url of ['postgres://ann:geheim@db.example/logs', 'postgres://db.example/logs?password=geheim']) {
    const parsed = parseConfig(`[archive]\nurl = "${url}"`, 'compact.toml');
    assert.ok(!parsed.ok && parsed.error[0]?.kind === 'config-value');
    assert.match(parsed.error[0].problem, /without a password \(set PGPASSWORD, or add a line to ~\/\.pgpass\)$/);
    assert.ok(!JSON.stringify(parsed.error).includes('geheim'));
  }
  assert.ok(!parseConfig('[archive]\nurl = "a.db"', 'compact.toml').ok);
});

test('a retention policy is checked when the file is read, as its flags are', () => {
  for (const policy of ['older_than = "180d"', 'older_than = "2026-03-02"', 'max_size = "20GB"'])
    assert.ok(parseConfig(`[retention]\n${policy}`, 'compact.toml').ok, policy);
  for (const policy of ['older_than = "6m"', 'older_than = "soon"', 'max_size = "large"'])
    assert.ok(!parseConfig(`[retention]\n${policy}`, 'compact.toml').ok, policy);
});

test('the rules for secrets are relative to the file that names them', () => {
  const path = (text: string) => given(text).settings.privacy.redact_rules;
  assert.equal(path('[privacy]\nredact_rules = "rules/a.toml"'), '/repo/rules/a.toml');
  assert.equal(path('[privacy]\nredact_rules = "~/a.toml"'), '/home/u/a.toml');
  assert.equal(path(''), null);
});

test('a flag is called as it is typed, and a URL is shown without a password', () => {
  const flags = { summarization: { name: 'm', base_url: 'https://me:pw@h.example/v1' } };
  const rows = listSettings(given('', flags));
  const shown = rows.filter(({ key, table }) => table === 'summarization' && (key === 'name' || key === 'base_url'));
  assert.deepEqual(
    shown.map(({ value, origin }) => [value, origin]),
    [
      ['m', { kind: 'flag', flag: '--model' }],
      ['https://…@h.example/v1', { kind: 'flag', flag: '--base-url' }],
    ],
  );
});

test('the settings are listed in the order in which they are declared', () => {
  const rows = listSettings(given('[prices]\nm = { input = 1, output = 2 }'));
  const declared = Object.entries(SETTINGS).flatMap(([table, keys]) =>
    Object.keys(keys).map((key) => `${table}.${key}`),
  );
  assert.deepEqual(
    rows.map(({ table, key }) => `${table}.${key}`),
    [...declared, 'prices.m'],
  );
});

test('every setting has the source of its value', () => {
  const text = '[summarization]\nkeep_recent = 9\n\nclip_last = 4\napi_key = "sk-1"\n';
  const rows = listSettings(given(text, { summarization: { keep_recent: 2 } }));
  const row = (key: string) => rows.find((candidate) => candidate.key === key);
  assert.deepEqual(row('keep_recent')?.origin, { kind: 'flag', flag: '--keep-recent' });
  assert.deepEqual(row('clip_last')?.origin, { kind: 'file', path: '/repo/compact.toml', line: 4 });
  assert.deepEqual(row('clip_first')?.origin, { kind: 'default' });
  assert.deepEqual(row('api_key')?.value, '(set, not shown)');
  assert.doesNotMatch(JSON.stringify(rows), /sk-1/);
});

test('an archive that follows the environment says so', () => {
  const elsewhere = { ...host, environment: { XDG_DATA_HOME: '/data' } };
  const config = NO_CONFIG;
  const settings = resolveSettings({ config, flags: {}, host: elsewhere });
  const rows = listSettings({ settings, config, flags: {}, host: elsewhere });
  const archive = rows.find(({ table }) => table === 'archive');
  assert.deepEqual(archive, {
    table: 'archive',
    key: 'path',
    value: '/data/compact/archive.db',
    isSecret: false,
    origin: { kind: 'environment', variable: 'XDG_DATA_HOME' },
  });
});

test("results of tools weigh as the user's words, unless a key says otherwise", () => {
  const weight = (text: string): number | undefined =>
    toPolicy(given(text).settings, noRequest).compaction.scoring?.roleWeightTool;
  assert.equal(weight('[summarization]\nrole_weight_user = 7\n'), 7);
  assert.equal(weight('[summarization]\nrole_weight_tool = 0\n'), 0);
});
