import { join } from 'node:path';
import { assertNever } from '../../core/result.ts';
import type { Terminal } from '../terminal.ts';
import { hookAction } from './events.ts';
import { createRuleNotes, stateFolder } from './rule-notes.ts';

export type HookCall = {
  readonly client: string;
  readonly event: string;
  /** The event as the client writes it to standard input, in JSON. */
  readonly input: string;
};

/** Summaries take a model some seconds, so the note of the rules is nearly always there. */
const WAIT_MS = 1500;

/**
 * Answers an event of a client, and starts work that takes longer in a process of its own. Anything unexpected is no answer: a client must not
 * fail because of us.
 */
export function answerHook({ client, event, input }: HookCall, terminal: HookTerminal): void {
  const action = hookAction(client, event);
  const { session, transcript } = readInput(input);
  if (action === null || transcript === null) return;
  const run = (args: readonly string[]): void =>
    terminal.startDetached(args, {
      folder: terminal.host.homeFolder,
      log: join(stateFolder(terminal.host), 'hooks.log'),
    });
  const capture = ['capture', '--quiet', transcript];
  const notes = createRuleNotes(terminal.host);
  switch (action) {
    case 'before-compaction':
      if (session !== null) {
        notes.begin(session);
        run(['hook', client, event, '--session', session, '--transcript', transcript]);
      }
      return run(capture);
    case 'archive':
      return run(capture);
    case 'after-compaction': {
      const rules = session === null ? null : notes.take(session, WAIT_MS);
      const additionalContext = writeReminder(rules, transcript);
      terminal.stdout.write(`${JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext } })}\n`);
      return;
    }
    default:
      assertNever(action);
  }
}

type HookTerminal = Pick<Terminal, 'host' | 'stdout' | 'startDetached'>;

/** Claude Code, Codex and Gemini CLI use the same names. */
function readInput(input: string): { readonly session: string | null; readonly transcript: string | null } {
  const fields: unknown = parseJson(input);
  const textOf = (key: string): string | null => {
    const value: unknown =
      typeof fields === 'object' && fields !== null ? Object.entries(fields).find(([name]) => name === key)?.[1] : null;
    return typeof value === 'string' && value !== '' ? value : null;
  };
  return { session: textOf('session_id'), transcript: textOf('transcript_path') };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

/** What the model is told after its client has replaced the conversation by a summary. */
function writeReminder(rules: string | null, transcript: string): string {
  const heading = 'What the user said before this conversation was summarized still holds. Quoted from their messages:';
  const stored = `Every message from before the summary is still in ${transcript} (one JSON record per line): search that file before you guess or ask again. Conversations that were compacted with the program compact are in its archive: use the tool memory_read of the MCP server "compact".`;
  return rules === null ? stored : `${heading}\n\n${rules.trim()}\n\n${stored}`;
}
