import type { CommandName } from './command-word.ts';

export const PURPOSE = 'Compacts stored conversations: older messages become a summary, and nothing is lost.';

/** In root help one line each, so they are short. */
export const SUMMARIES: { readonly [name in CommandName]: string } = {
  run: 'the default, for a file named like a command',
  score: "the importance ranking of a transcript's messages",
  scan: 'finds transcripts, and what there is to save',
  restore: 'the original, byte for byte',
  verify: 'proves that nothing is lost',
  search: 'archived messages and batches, by their words',
  show: 'an archived batch or message',
  archive: 'what is archived: list, stats, check',
  mcp: 'what is archived, for agents: an MCP server on stdio',
  config: 'the settings and where each comes from',
  schema: 'JSON Schema of what --json prints',
  help: 'help on a command',
};

/** For those who name nothing. */
export const SHORT_HELP = `compact makes stored conversations smaller, and nothing is lost.
  compact scan              finds transcripts, and what there is to save
  compact -n session.jsonl  shows what would be done, and writes nothing
  compact session.jsonl     writes session.compact.jsonl beside it
  compact --help            all commands and options
`;

export const HELP_AFTER = `Examples:
  compact session.jsonl                 writes session.compact.jsonl beside it
  compact -n session.jsonl              shows what would be done
  compact -i --if-over 100000 sessions/ replaces the large ones in place
  compact --provider ollama --model NAME session.jsonl
  compact score session.jsonl           ranks the messages
  compact restore session.compact.jsonl -o original.jsonl
  compact scan                          finds transcripts worth compacting
  compact search parser config          finds what was archived

Exit codes: 0 done or nothing to do, 1 a transcript failed, 2 wrong usage or
configuration, 69 wrong Node version, 130 or 143 interrupted.
`;
