// The plugin of OpenCode: sessions are captured when they rest and before they are compacted, and what the user ruled is put back into the summary.
import { spawn } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** `launch` starts the program compact: `{ command, args }`. */
export function createPlugin(launch) {
  return { id: 'compact', server: async ({ client }) => createHooks(client, launch) };
}

function createHooks(client, launch) {
  const working = new Set();
  const answer = async (event, session, transcript) => {
    const output = await runHook(launch, event, { session_id: session, transcript_path: transcript });
    return output === '' ? null : JSON.parse(output).hookSpecificOutput.additionalContext;
  };
  /** OpenCode must not fail because of us, nor end before this is done. */
  const guard = (work) => {
    const done = work().catch((error) =>
      client.app
        .log({ body: { service: 'compact', level: 'warn', message: `compact: ${error.message}` } })
        .catch(() => undefined),
    );
    working.add(done);
    return done.finally(() => working.delete(done));
  };
  return {
    dispose: async () => {
      await Promise.all(working);
    },
    event: ({ event }) =>
      guard(async () => {
        if (event.type !== 'session.idle') return;
        const session = event.properties.sessionID;
        await answer('session.idle', session, await exportSession(client, session));
      }),
    'experimental.session.compacting': ({ sessionID: session }) =>
      guard(async () => {
        await answer('session.compacting', session, await exportSession(client, session));
      }),
    // The summary is a message like others: what is added to it here is stored with it, and sent from now on.
    'experimental.text.complete': ({ sessionID: session, messageID }, output) =>
      guard(async () => {
        const { data } = await client.session.message({ path: { id: session, messageID } });
        if (data?.info.summary !== true) return;
        const reminder = await answer('session.compacted', session, exportPath(session));
        if (reminder !== null) output.text = `${output.text.trimEnd()}\n\n${reminder}`;
      }),
  };
}

/** A copy of a session, as `opencode export` writes it. `compact` removes it after a week. */
async function exportSession(client, session) {
  const path = { id: session };
  const [info, messages] = await Promise.all([client.session.get({ path }), client.session.messages({ path })]);
  if (info.data === undefined || messages.data === undefined) throw new Error(`${session} cannot be read`);
  const file = exportPath(session);
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify({ info: info.data, messages: messages.data }, null, 2)}\n`, {
    mode: 0o600,
  });
  renameSync(temporary, file);
  return file;
}

function exportPath(session) {
  const given = process.env.XDG_STATE_HOME ?? '';
  const state = isAbsolute(given) ? given : join(homedir(), '.local', 'state');
  return join(state, 'compact', 'opencode', `${session}.json`);
}

/** What `compact hook opencode EVENT` prints. Rejects where it fails. */
async function runHook({ command, args }, event, input) {
  const child = spawn(command, [...args, 'hook', 'opencode', event], {
    cwd: homedir(),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  child.stdin.on('error', () => undefined); // it has ended: its exit code says why
  child.stdin.end(JSON.stringify(input));
  const [code, output] = await Promise.all([ended, text(child.stdout)]);
  if (code !== 0) throw new Error(`the hook for ${event} ended with exit code ${code}`);
  return output;
}
