import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { folderWith } from '../../support/folders.ts';

const PLUGIN = join(import.meta.dirname, '../../../bin/clients/opencode.js');

/** Notes how it was called, and answers like `compact hook opencode session.compacted`. */
const PROGRAM = `
const event = process.argv.at(-1);
require('node:fs').appendFileSync(process.env.HOOK_CALLS, event + ' ' + require('node:fs').readFileSync(0, 'utf8') + '\\n');
if (event === 'session.compacted') console.log(JSON.stringify({ hookSpecificOutput: { additionalContext: 'Never write tabs.' } }));
`;

const SESSION = { info: { id: 'ses_1', title: 'Mill' }, messages: [{ info: { id: 'msg_1' }, parts: [] }] };

async function startPlugin(t: TestContext, { program = PROGRAM }: { readonly program?: string } = {}) {
  const home = folderWith(t, { calls: '' });
  const before = { state: process.env['XDG_STATE_HOME'], calls: process.env['HOOK_CALLS'] };
  process.env['XDG_STATE_HOME'] = home;
  process.env['HOOK_CALLS'] = join(home, 'calls');
  t.after(() => {
    if (before.state === undefined) delete process.env['XDG_STATE_HOME'];
    else process.env['XDG_STATE_HOME'] = before.state;
    delete process.env['HOOK_CALLS'];
  });
  const logged: string[] = [];
  const client = {
    session: {
      get: async () => ({ data: SESSION.info }),
      messages: async () => ({ data: SESSION.messages }),
      message: async ({ path }: { readonly path: { readonly messageID: string } }) => ({
        data: { info: { summary: path.messageID === 'msg_summary' } },
      }),
    },
    app: { log: async ({ body }: { readonly body: { readonly message: string } }) => logged.push(body.message) },
  };
  const { createPlugin } = await import(PLUGIN);
  const hooks = await createPlugin({ command: process.execPath, args: ['-e', program, '--'] }).server({ client });
  const copy = join(home, 'compact/opencode/ses_1.json');
  return { hooks, logged, copy, calls: () => readFileSync(join(home, 'calls'), 'utf8').trimEnd().split('\n') };
}

test('a session that rests or is about to be compacted is written as an export, and handed to the hook', async (t) => {
  const { hooks, calls, copy } = await startPlugin(t);
  await hooks.event({ event: { type: 'session.idle', properties: { sessionID: 'ses_1' } } });
  await hooks.event({ event: { type: 'session.updated', properties: { sessionID: 'ses_1' } } });
  await hooks['experimental.session.compacting']({ sessionID: 'ses_1' }, { context: [] });
  const input = JSON.stringify({ session_id: 'ses_1', transcript_path: copy });
  assert.deepEqual(calls(), [`session.idle ${input}`, `session.compacting ${input}`]);
  assert.deepEqual(JSON.parse(readFileSync(copy, 'utf8')), SESSION);
});

test('what the hook says goes to the end of a summary, and of no other message', async (t) => {
  const { hooks } = await startPlugin(t);
  const [summary, other] = [{ text: 'We milled.\n' }, { text: 'An answer.' }];
  await hooks['experimental.text.complete']({ sessionID: 'ses_1', messageID: 'msg_summary' }, summary);
  await hooks['experimental.text.complete']({ sessionID: 'ses_1', messageID: 'msg_2' }, other);
  assert.deepEqual([summary.text, other.text], ['We milled.\n\nNever write tabs.', 'An answer.']);
});

test('a hook that fails is logged, and OpenCode goes on', async (t) => {
  const { hooks, logged, copy } = await startPlugin(t, { program: 'process.exit(3)' });
  await hooks.event({ event: { type: 'session.idle', properties: { sessionID: 'ses_1' } } });
  await hooks.dispose();
  assert.deepEqual(logged, ['compact: the hook for session.idle ended with exit code 3']);
  assert.ok(existsSync(copy));
});
