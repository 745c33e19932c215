import { Option } from 'commander';
import type { ScoreInvocation, ScoreOrder } from '../invocation.ts';
import {
  addArchive,
  addConfig,
  addFormat,
  addManner,
  addSelection,
  parseCount,
  readManner,
  readSettings,
} from './options.ts';
import type { CommandDefinition, MannerOptions, SettingOptions } from './options.ts';

type Options = MannerOptions &
  SettingOptions & {
    readonly explain?: boolean;
    readonly limit?: number;
    readonly sort?: ScoreOrder;
    readonly target?: number;
    readonly format?: string;
    readonly conversation?: string;
  };

export const scoreCommand: CommandDefinition<ScoreInvocation> = {
  define: (command) => {
    command
      .argument('<transcript...>', 'files, folders, globs, or - for standard input')
      .option('--explain', "show each factor's share")
      .option('--limit <n>', 'no more rows than this', parseCount)
      .addOption(
        new Option('--sort <order>', 'rows by score (a table is) or by position (JSON is)').choices([
          'score',
          'position',
        ]),
      );
    return addManner(addArchive(addConfig(addFormat(addSelection(command)))));
  },
  read: (command) => {
    const options = command.opts<Options>();
    return {
      kind: 'score',
      operands: command.args,
      format: options.format ?? null,
      policy: { targetTokens: options.target ?? null, ifOver: null, conversation: options.conversation ?? null },
      explain: options.explain === true,
      limit: options.limit ?? null,
      sort: options.sort ?? (options.json === true ? 'position' : 'score'),
      manner: readManner(options),
      settings: readSettings(options),
    };
  },
};
