import type { ClientName } from '../../ports/clients.ts';

/** What happens at an event of a client. */
export type HookAction =
  /** The client is about to summarize its conversation: the session is archived, and the user's rules are noted. */
  | 'before-compaction'
  /** The client has summarized its conversation: it is told the rules. */
  | 'after-compaction'
  /** The session is archived. */
  | 'archive';

/** Claude Code and Codex have the same events. */
const CLAUDE_EVENTS = {
  PreCompact: 'before-compaction',
  SessionStart: 'after-compaction',
  SessionEnd: 'archive',
} as const;

const EVENTS: { readonly [client in ClientName]?: { readonly [event: string]: HookAction } } = {
  claude: CLAUDE_EVENTS,
  codex: CLAUDE_EVENTS,
  gemini: { PreCompress: 'archive', SessionEnd: 'archive' },
};

export function hookAction(client: string, event: string): HookAction | null {
  const events = Object.entries(EVENTS).find(([name]) => name === client)?.[1] ?? {};
  return Object.entries(events).find(([name]) => name === event)?.[1] ?? null;
}
