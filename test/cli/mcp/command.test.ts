import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpOf, parsed } from '../command-lines.ts';

test('the folders and flags of the server are read', async () => {
  const outputOptions = { json: false, verbosity: 'normal', color: 'never', showProgress: false };
  const flags = { summarization: {}, transcript: {}, archive: {} };
  assert.deepEqual(await parsed('mcp'), {
    kind: 'mcp',
    folders: [],
    allowsCompacting: false,
    scope: { source: null, since: null },
    masksSecrets: false,
    outputOptions,
    settings: { configFlag: null, project: 'ignored', flags },
  });
  const given = ['mcp', 'logs', 'more', '--allow-compact', '-q', '--archive', 'a.db', '--config', 'c'];
  const limits = ['--source', './talk.jsonl', '--since', '2026-03-02T09:30Z', '--redact'];
  assert.deepEqual(await parsed(...given, ...limits), {
    kind: 'mcp',
    folders: ['logs', 'more'],
    allowsCompacting: true,
    scope: { source: 'talk.jsonl', since: new Date('2026-03-02T09:30Z') },
    masksSecrets: true,
    outputOptions: { ...outputOptions, verbosity: 'quiet' },
    settings: { configFlag: 'c', project: 'ignored', flags: { ...flags, archive: { path: 'a.db' } } },
  });
});

test('its help names its flags, and the help of the program names it', async () => {
  const own = await helpOf(['mcp', '--help']);
  const whole = await helpOf(['--help']);
  assert.match(own, /Usage: compact mcp \[options\] \[folder\.\.\.\]/);
  assert.match(own, /--allow-compact +offer the tool compact_context/);
  assert.match(whole, /^ {2}mcp .+: MCP on stdio$/m);
});
