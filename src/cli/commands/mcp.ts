import type { McpInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import { ARCHIVE_FLAG, CONFIG_FLAG, readSettings } from './options.ts';

export const mcpCommand: CommandDefinition<McpInvocation> = {
  operands: { syntax: '[folder...]', description: 'where compact_context may compact transcripts' },
  flags: [
    {
      flags: '--allow-compact',
      description: 'offer the tool compact_context, which compacts a transcript in these folders',
    },
    CONFIG_FLAG,
    ARCHIVE_FLAG,
    { flags: '-q, --quiet', description: 'errors only, on stderr', conflicts: 'verbose' },
    { flags: '-v, --verbose', description: 'more of what is done, on stderr' },
  ],
  read: ({ options, args }) => ({
    kind: 'mcp',
    folders: args,
    allowsCompacting: options.allowCompact === true,
    // Nothing but the protocol goes to stdout, and whoever started it reads no colors.
    manner: {
      json: false,
      verbosity: options.quiet === true ? 'quiet' : options.verbose === true ? 'verbose' : 'normal',
      color: 'never',
      showProgress: false,
    },
    // Clients start the server in any folder, and nobody reads its messages.
    settings: { ...readSettings(options), project: 'ignored' },
  }),
};
