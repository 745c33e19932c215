import { parseSince } from '../../config/quantity.ts';
import type { McpInvocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';
import { ARCHIVE_FLAG, CONFIG_FLAG, MAX_UNPACKED_FLAG, readSettings } from './options.ts';

export const mcpCommand: CommandDefinition<McpInvocation> = {
  operands: { syntax: '[folder...]', description: 'where compact_context may compact transcripts' },
  flags: [
    {
      flags: '--allow-compact',
      description: 'offer the tool compact_context, which compacts a transcript in these folders',
    },
    {
      flags: '--source <file>',
      description: 'show only what was archived from this transcript: a path, or the end of one (everything)',
    },
    {
      flags: '--since <time>',
      description:
        'show only what was said on this day or later, 2026-03-02; or at this time, 2026-03-02T09:30Z (everything)',
      parse: parseSince,
    },
    { flags: '--redact', description: 'mask secrets in what is shown (by default it is shown as it was said)' },
    MAX_UNPACKED_FLAG,
    CONFIG_FLAG,
    ARCHIVE_FLAG,
    { flags: '-q, --quiet', description: 'errors only, on stderr', conflicts: 'verbose' },
    { flags: '-v, --verbose', description: 'more of what is done, on stderr' },
  ],
  read: ({ options, args }) => ({
    kind: 'mcp',
    folders: args,
    allowsCompacting: options.allowCompact === true,
    scope: {
      source: options.source?.replace(/^(?:\.\/)+/, '') ?? null,
      since: options.since === undefined ? null : new Date(options.since),
    },
    masksSecrets: options.redact === true,
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
