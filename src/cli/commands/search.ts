import { parseCount, parseSince, parseUntil } from '../../config/quantity.ts';
import type { Role } from '../../core/message.ts';
import type { SearchInvocation } from '../invocation.ts';
import type { CommandDefinition, Options } from './definition.ts';
import { MANNER_FLAGS, readManner, readSettings, SETTINGS_FLAGS } from './options.ts';

const DEFAULT_LIMIT = 10;
const ROLES = ['user', 'assistant', 'system', 'tool'] as const satisfies readonly Role[];

export const searchCommand: CommandDefinition<SearchInvocation> = {
  operands: { syntax: '<query...>', description: 'words, in any text; or - for one query a line on standard input' },
  flags: [
    { flags: '--messages', description: 'messages only', conflicts: 'batches' },
    { flags: '--batches', description: 'summaries only' },
    { flags: '--conversation <id>', description: 'of this conversation only' },
    { flags: '--role <role>', description: 'messages of this role only', choices: ROLES, conflicts: 'batches' },
    {
      flags: '--since <time>',
      description: 'said on this day or later, 2026-03-02; or at this time, 2026-03-02T09:30Z',
      parse: parseSince,
    },
    { flags: '--until <time>', description: 'said on this day or earlier, or before this time', parse: parseUntil },
    { flags: '--source <file>', description: 'archived from this transcript: a path, or the end of one' },
    { flags: '--limit <n>', description: `no more than this (${DEFAULT_LIMIT})`, parse: parseCount },
    { flags: '--newest', description: 'what was archived last comes first, not what fits best' },
    ...SETTINGS_FLAGS,
    ...MANNER_FLAGS,
  ],
  read: ({ options, args }) => ({
    kind: 'search',
    query: args.join(' '),
    conversation: options.conversation ?? null,
    role: options.role ?? null,
    since: readTime(options.since),
    until: readTime(options.until),
    source: options.source?.replace(/^(?:\.\/)+/, '') ?? null,
    kinds: readKinds(options),
    order: options.newest === true ? 'newest' : 'best',
    limit: options.limit ?? DEFAULT_LIMIT,
    manner: readManner(options),
    settings: readSettings(options),
  }),
};

function readTime(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}

function readKinds({ messages, batches }: Options): SearchInvocation['kinds'] {
  if (messages === true) return 'messages';
  return batches === true ? 'batches' : 'all';
}
