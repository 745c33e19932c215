import type { CommandName } from './command-word.ts';

export const SUMMARIES: { readonly [name in CommandName]: string } = {
  run: 'Compacts stored conversations: older messages become a summary, and nothing is lost.',
  score: "The importance ranking of a transcript's messages.",
  restore: 'The original, byte for byte, from the compacted file and the archive.',
  verify: 'Proves that nothing is lost: hashes, coverage, pairs, batches.',
  config: 'Shows the configuration and where each value comes from.',
  schema: 'JSON Schema of what a command prints with --json.',
  help: 'Help on a command.',
};

export const HELP_AFTER = `Examples:
  compact session.jsonl                 writes session.compact.jsonl beside it
  compact -n session.jsonl              shows what would be done
  compact -i --if-over 100000 sessions/ replaces the large ones in place
  compact score session.jsonl           ranks the messages
  compact restore session.compact.jsonl -o original.jsonl

Exit codes: 0 done or nothing to do, 1 a transcript failed, 2 wrong usage or
configuration, 69 wrong Node version, 130 interrupted.
`;
