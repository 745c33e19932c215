import type { SearchInvocation } from '../invocation.ts';
import type { CommandDefinition, Options } from './definition.ts';
import { ARCHIVE_FLAG, CONFIG_FLAG, MANNER_FLAGS, parseCount, readManner, readSettings } from './options.ts';

const DEFAULT_LIMIT = 10;

export const searchCommand: CommandDefinition<SearchInvocation> = {
  operands: { syntax: '<query...>', description: 'words, in any text; or - for one query a line on standard input' },
  flags: [
    { flags: '--messages', description: 'messages only', conflicts: 'batches' },
    { flags: '--batches', description: 'summaries only' },
    { flags: '--conversation <id>', description: 'of this conversation only' },
    { flags: '--limit <n>', description: `no more than this (${DEFAULT_LIMIT})`, parse: parseCount },
    { flags: '--newest', description: 'what was archived last comes first, not what fits best' },
    CONFIG_FLAG,
    ARCHIVE_FLAG,
    ...MANNER_FLAGS,
  ],
  read: ({ options, args }) => ({
    kind: 'search',
    query: args.join(' '),
    conversation: options.conversation ?? null,
    kinds: readKinds(options),
    order: options.newest === true ? 'newest' : 'best',
    limit: options.limit ?? DEFAULT_LIMIT,
    manner: readManner(options),
    settings: readSettings(options),
  }),
};

function readKinds({ messages, batches }: Options): SearchInvocation['kinds'] {
  if (messages === true) return 'messages';
  return batches === true ? 'batches' : 'all';
}
