import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { chatLine, prose } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';
import { callTool, converse } from '../../support/mcp.ts';
import { runHere } from '../../support/program.ts';

// Made up, in the form of a GitHub token; in two parts, so that no scanner takes this file for a leak.
const TOKEN = ['ghp_', 'Zk3mQ9xT7bVw2LhR5nYc8JdF4sGp6AuE1oHi'].join('');

/** A talk of thirty messages, one an hour from a day on, that all speak of a harbor. */
function talk(day: string, about: string): string {
  const start = Date.parse(`${day}T00:00:00Z`);
  return Array.from({ length: 30 }, (_, at) => {
    const role = at % 2 === 0 ? 'user' : 'assistant';
    const content = `harbor ${about}${at} ${at === 3 ? `the token is ${TOKEN} and` : ''} ${prose(at, 60)}`;
    const created_at = new Date(start + at * 3_600_000).toISOString();
    return `${chatLine({ role, content, id: `${about}-${at}`, conversation_id: about, created_at })}\n`;
  }).join('');
}

type Served = {
  readonly ask: (tool: string, args: Record<string, unknown>) => Promise<Answer>;
  readonly about: string;
};
type Answer = { readonly text: string; readonly isError: boolean };

/** Two archived talks, of March and of June, served with these flags. */
async function serve(t: TestContext, ...flags: readonly string[]): Promise<Served> {
  const folder = folderWith(t, {
    'march.jsonl': talk('2026-03-02', 'gull'),
    'june.jsonl': talk('2026-06-05', 'heron'),
  });
  const archive = ['--archive', join(folder, 'a.db')];
  const files = ['march.jsonl', 'june.jsonl'].map((name) => join(folder, name));
  const { code, stderr } = await runHere(['-i', ...archive, '--chunk-size', '10', ...files]);
  assert.equal(code, 0, stderr);
  const ask: Served['ask'] = async (name, args) => {
    const result = await callTool([...archive, ...flags], name, args);
    return { text: JSON.stringify(result), isError: result.isError === true };
  };
  const { answers } = await converse([...archive, ...flags], '');
  return { ask, about: String(answers.get('init')?.result?.['instructions']) };
}

const everything = { query: 'harbor', limit: 50 };

test('a server without flags shows everything, as it was said', async (t) => {
  const { ask, about } = await serve(t);
  const { text } = await ask('memory_read', everything);
  assert.match(text, /gull/);
  assert.match(text, /heron/);
  assert.ok((await ask('memory_read', { query: 'token' })).text.includes(TOKEN));
  assert.doesNotMatch(about, /shows only/);
});

test('--source shows one transcript, whatever a client asks for', async (t) => {
  const { ask, about } = await serve(t, '--source', 'june.jsonl');
  assert.match(about, /shows only what was archived of the transcript june\.jsonl/);
  for (const args of [
    everything,
    { ...everything, order: 'newest' },
    { ...everything, conversation: 'gull' },
    { query: 'gull3' },
  ]) {
    assert.doesNotMatch((await ask('memory_read', args)).text, /gull\d/);
  }
  assert.match((await ask('memory_read', everything)).text, /heron/);
  assert.equal((await ask('memory_read', { ...everything, source: 'march.jsonl' })).isError, true);
  assert.equal((await ask('memory_read', { ...everything, source: 'june.jsonl' })).isError, false);
  for (const name of ['gull-3', 'gull', 'compaction-batch-gull', 'message:1', 'batch:1', 'no-such-name']) {
    for (const what of ['messages', 'summary']) {
      const { text, isError } = await ask('memory_expand', { id: name, what });
      if (!isError) assert.doesNotMatch(text, /gull/);
      else assert.match(text, /This server shows nothing of that name/);
    }
  }
  assert.match((await ask('memory_expand', { id: 'heron-3' })).text, /heron3/);
});

test('--since shows nothing that was said before, in summaries neither', async (t) => {
  const { ask } = await serve(t, '--since', '2026-06-05T12:30Z');
  const early = /gull|heron(?:\d|1[0-2])\D/;
  for (const args of [
    everything,
    { ...everything, since: '2020-01-01' },
    { ...everything, order: 'newest' },
    { ...everything, kind: 'summaries' },
  ]) {
    assert.doesNotMatch((await ask('memory_read', args)).text, early);
  }
  assert.match((await ask('memory_read', { ...everything, kind: 'messages' })).text, /heron13/);
  for (const id of ['heron-3', 'message:1', 'batch:1', 'heron-12']) {
    assert.equal((await ask('memory_expand', { id })).isError, true, id);
  }
  assert.match((await ask('memory_expand', { id: 'heron-13' })).text, /heron13/);
});

test('--redact masks secrets in excerpts, messages and summaries, and leaves the archive as it is', async (t) => {
  const { ask } = await serve(t, '--redact');
  const answers = [
    await ask('memory_read', { query: 'token' }),
    await ask('memory_read', { query: TOKEN }),
    await ask('memory_expand', { id: 'gull-3' }),
    await ask('memory_expand', { id: 'batch:1', what: 'summary' }),
    await ask('memory_expand', { id: 'batch:1' }),
  ];
  for (const { text } of answers) assert.ok(!text.includes(TOKEN.slice(4, 16)), text.slice(0, 500));
  assert.match(answers[2]?.text ?? '', /\[redacted:/);
});
