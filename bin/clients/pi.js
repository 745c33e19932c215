// The extension of pi: whenever pi compacts, compact writes the summary, and what leaves the context is archived first.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Runs `compact` in the home folder, where no project has a configuration. Rejects where it fails. */
async function compact({ command, args }, signal) {
  const child = spawn(command, args, { cwd: homedir(), signal, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(errors.trim() || `exit code ${code}`);
  return JSON.parse(output);
}

/** The compaction of a session as pi stores it; null: it is too short to gain anything. */
async function summarize(session, { launch, keepRecentTokens, signal }) {
  const folder = mkdtempSync(join(tmpdir(), 'compact-pi-'));
  try {
    const output = join(folder, 'session.jsonl');
    const kept = ['--keep-recent-tokens', String(keepRecentTokens)];
    const args = [...launch.args, 'run', '--format', 'pi', '--json', ...kept, '-o', output, '--', session];
    const report = await compact({ ...launch, args }, signal);
    if (report.result !== 'compacted') return null;
    const entries = readFileSync(output, 'utf8').trimEnd().split('\n').map(JSON.parse);
    const entry = entries.find(({ type, fromHook }) => type === 'compaction' && fromHook === true);
    return entry === undefined ? null : { ...entry, report };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `launch` starts the program compact: `{ command, args }`. */
export function createPlugin(launch) {
  return (pi) => {
    pi.on('session_before_compact', async (event, context) => {
      const { preparation, branchEntries, customInstructions, signal } = event;
      const session = context.sessionManager.getSessionFile();
      // Instructions are for a model.
      if (session === undefined || (customInstructions ?? '') !== '') return undefined;
      try {
        const { keepRecentTokens } = preparation.settings;
        const made = await summarize(session, { launch, keepRecentTokens, signal });
        // The file ends on another branch if the user has gone back and said nothing yet.
        if (made === null || !branchEntries.some(({ id }) => id === made.firstKeptEntryId)) return undefined;
        const { summary, firstKeptEntryId, report } = made;
        const details = { compact: { archive: report.archive, sha256: report.sha256.before } };
        return { compaction: { summary, firstKeptEntryId, tokensBefore: preparation.tokensBefore, details } };
      } catch (error) {
        // pi writes the summary itself then.
        if (!signal.aborted) context.ui.notify(`compact: ${error.message}`, 'warning');
        return undefined;
      }
    });
  };
}
