import { PROVIDER_ALIASES, PROVIDERS } from '../../config/summarization.ts';
import { type Command, defineBareCommand, EXIT_CODES } from '../line/command.ts';
import { COMPLETIONS, type Described, type Shell } from '../render/completion.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const satisfies readonly Shell[];

/** Prints a script that needs no `compact` to complete a word, so that the Tab key never waits for Node. `listCommands`: what can be completed, in order. */
export const createCompletionCommand = (listCommands: () => Promise<readonly Described[]>): Command =>
  defineBareCommand({
    operands: {
      syntax: '<shell>',
      description: 'the shell that will read the completions',
      choices: SHELLS,
    },
    flags: [],
    examples: [
      ['eval "$(compact completion bash)"', 'for this shell; in ~/.bashrc, for every one'],
      ['compact completion zsh > _compact', 'writes a file for a folder of fpath'],
    ],
    run: async (context, { operands: [name] }) => {
      const { listFormats } = await import('./compact.ts');
      const shell = SHELLS.find((one) => one === name) ?? 'bash';
      const formats = (await listFormats(context)).map(({ name }) => name);
      const values = { '--format': formats, '--provider': [...PROVIDERS, ...Object.keys(PROVIDER_ALIASES)] };
      context.terminal.stdout.write(COMPLETIONS[shell](await listCommands(), values));
      return EXIT_CODES.done;
    },
  });
