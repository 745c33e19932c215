import { join } from 'node:path';
import { stateFolder } from '../../config/find.ts';
import { quoteText } from '../../core/quoted-text.ts';
import { assertNever, parseJson } from '../../core/result.ts';
import type { ClientName } from '../../ports/clients.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { createRuleNotes, removeExpired } from './rule-notes.ts';

/** Of the event, which has ids and paths. */
const MAX_INPUT_BYTES = 1024 * 1024;

type HookAction =
  /** The client is about to summarize its conversation: the session is captured, and the user's rules are noted. */
  | 'before-compaction'
  /** The client has summarized its conversation: it is told the rules. */
  | 'after-compaction'
  /** The session is captured. */
  | 'capture';

const CLAUDE_EVENTS = {
  PreCompact: 'before-compaction',
  SessionStart: 'after-compaction',
  SessionEnd: 'capture',
} as const;

const EVENTS: { readonly [client in ClientName]?: { readonly [event: string]: HookAction } } = {
  claude: CLAUDE_EVENTS,
  codex: CLAUDE_EVENTS,
  gemini: { PreCompress: 'capture', SessionEnd: 'capture' },
  opencode: {
    'session.compacting': 'before-compaction',
    'session.compacted': 'after-compaction',
    'session.idle': 'capture',
  },
};

/** Summaries take a model some seconds, so the note of the rules is nearly always there. */
const WAIT_MS = 1500;

/**
 * Answers an event of a client, and starts work that takes longer in a process of its own. Anything unexpected is no answer: a client must not
 * fail because of us.
 */
export function answerHook(
  { client, event }: { readonly client: string; readonly event: string },
  terminal: Pick<Terminal, 'host' | 'readStdin' | 'stderr' | 'stdout' | 'startDetached'>,
): void {
  const action = findAction(client, event);
  // The event, as the client writes it in JSON.
  const input = terminal.readStdin(MAX_INPUT_BYTES);
  if (input === null) terminal.stderr.write('compact hook: the input is larger than 1 MiB, so it was not read.\n');
  const { session, transcript } = readInput(input ?? '');
  if (action === null || transcript === null) return;
  const state = stateFolder(terminal.host);
  // The plugin of OpenCode writes copies of its sessions there.
  removeExpired(join(state, 'opencode'));
  const place = { folder: terminal.host.homeFolder, log: join(state, 'hooks.log') };
  const run = (args: readonly string[]): void => terminal.startDetached(args, place);
  const capture = ['capture', '--quiet', '--', transcript];
  const notes = createRuleNotes(terminal.host);
  switch (action) {
    case 'before-compaction':
      if (session !== null) {
        notes.begin(session);
        run(['hook', client, event, `--session=${session}`, `--transcript=${transcript}`]);
      }
      return run(capture);
    case 'capture':
      return run(capture);
    case 'after-compaction': {
      const rules = session === null ? null : notes.take(session, WAIT_MS);
      const source =
        client === 'opencode'
          ? `the output of \`opencode export ${onOneLine(session ?? '')}\``
          : `${onOneLine(transcript)}, one JSON record per line`;
      const stored = `The full conversation from before the summary is in ${source}. ${HOW_TO_SEARCH}`;
      // What the model is told after its client has replaced the conversation by a summary.
      const additionalContext = rules === null ? stored : `${rules.trim()}\n\n${stored}`;
      terminal.stdout.write(`${JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext } })}\n`);
      return;
    }
    default:
      assertNever(action);
  }
}

function findAction(client: string, event: string): HookAction | null {
  const events = Object.entries(EVENTS).find(([name]) => name === client)?.[1] ?? {};
  return Object.entries(events).find(([name]) => name === event)?.[1] ?? null;
}

/** Claude Code, Codex and Gemini CLI use the same names, and our plugin of OpenCode does too. */
function readInput(input: string): { readonly session: string | null; readonly transcript: string | null } {
  const { session_id: session, transcript_path: transcript } = Object(parseJson(input));
  const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
  return { session: textOf(session), transcript: textOf(transcript) };
}

/** A name that somebody else chose must not look like a paragraph of ours. */
function onOneLine(name: string): string {
  return quoteText(name.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '));
}

const HOW_TO_SEARCH =
  'Search it before you guess or ask again. Conversations that were compacted with the program compact are in its archive: use the tool memory_read of the MCP server "compact".';
