import { PROVIDERS } from '../../config/summarization.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { COMPLETIONS, type Described, type Shell } from '../render/completion.ts';
import type { CliContext } from '../session.ts';
import { type Command, defineCommand } from './command.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const satisfies readonly Shell[];

type CompletionInvocation = { readonly kind: 'completion'; readonly shell: Shell };

/** `listCommands`: what can be completed, in order. */
export const createCompletionCommand = (
  listCommands: () => Promise<readonly Described[]>,
): Command<CompletionInvocation> =>
  defineCommand({
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
    read: ({ args: [name] }): CompletionInvocation => ({
      kind: 'completion',
      shell: SHELLS.find((shell) => shell === name) ?? 'bash',
    }),
    run: (context, invocation) => run(context, invocation, listCommands),
  });

/** Prints a script that needs no `compact` to complete a word, so that the Tab key never waits for Node. */
async function run(
  context: CliContext,
  { shell }: CompletionInvocation,
  listCommands: () => Promise<readonly Described[]>,
): Promise<ExitCode> {
  const { listFormats } = await import('./compact.ts');
  const values = { '--format': (await listFormats(context)).map(({ name }) => name), '--provider': PROVIDERS };
  context.terminal.stdout.write(COMPLETIONS[shell](await listCommands(), values));
  return EXIT_CODES.done;
}
