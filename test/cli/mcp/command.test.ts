import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpOf, parsed } from '../command-lines.ts';

test('the folders and flags of the server are read, and no project has a say', async () => {
  const outputOptions = { json: false, verbosity: 'normal', color: 'never', showProgress: false };
  assert.partialDeepStrictEqual(await parsed('mcp'), {
    operands: [],
    outputOptions,
    settings: { configFlag: null, project: 'ignored' },
  });
  const given = ['mcp', 'logs', 'more', '--allow-compact', '-q', '--archive', 'a.db', '--config', 'c'];
  const limits = ['--source', './talk.jsonl', '--since', '2026-03-02T09:30Z', '--redact'];
  assert.partialDeepStrictEqual(await parsed(...given, ...limits), {
    operands: ['logs', 'more'],
    options: {
      allowCompact: true,
      source: './talk.jsonl',
      since: Date.parse('2026-03-02T09:30Z'),
      redact: true,
    },
    outputOptions: { ...outputOptions, verbosity: 'quiet' },
    settings: { configFlag: 'c', project: 'ignored', flags: { archive: { path: 'a.db' } } },
  });
});

test('its help names its flags, and the help of the program names it', async () => {
  const own = await helpOf(['mcp', '--help']);
  const whole = await helpOf(['--help']);
  assert.match(own, /Usage: compact mcp \[options\] \[folder\.\.\.\]/);
  assert.match(own, /--allow-compact +offer the tool compact_context/);
  assert.match(whole, /^ {2}mcp .+: MCP on stdio$/m);
});
