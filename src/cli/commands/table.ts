import type { Command } from '../line/command.ts';
import { namesOf, takesValue } from '../line/line.ts';

type Entry = {
  /** One short line of `compact --help`. */
  readonly summary: string;
  /** Imports the command only when it is needed. `help` has nothing to import. */
  readonly load?: () => Promise<{ readonly command: Command }>;
  /** Other programs call it: neither the list of commands nor completions name it. */
  readonly isHidden?: true;
};

/** Every command, in the order of `compact --help`. Registration, help, loading and suggestions come from this table. */
export const COMMANDS = {
  run: { summary: 'the default command, for files named like a command', load: () => import('./compact.ts') },
  score: { summary: "ranks a transcript's messages by importance", load: () => import('./score.ts') },
  scan: { summary: 'finds transcripts and estimates the savings', load: () => import('./scan.ts') },
  handoff: { summary: 'hands a session to another program or person', load: () => import('./handoff.ts') },
  capture: { summary: 'stores whole transcripts before they are gone', load: () => import('./capture.ts') },
  restore: { summary: 'restores the original, byte for byte', load: () => import('./restore.ts') },
  diff: { summary: 'shows what a compaction kept, quoted and left', load: () => import('./diff.ts') },
  undo: { summary: 'undoes the last run, every file of it', load: () => import('./undo.ts') },
  rules: { summary: 'lists your standing rules, and where you said each', load: () => import('./rules.ts') },
  verify: { summary: 'proves that nothing is lost', load: () => import('./verify.ts') },
  report: { summary: 'makes a page that shows what was kept and lost', load: () => import('./report.ts') },
  search: { summary: 'searches archived messages and summaries', load: () => import('./search.ts') },
  show: { summary: 'shows an archived message or summary', load: () => import('./show.ts') },
  archive: { summary: 'lists, checks, protects, merges and erases archived data', load: () => import('./archive.ts') },
  batch: { summary: 'summarizes at half price through batch APIs', load: () => import('./batch.ts') },
  work: { summary: 'compacts files from a queue that workers share', load: () => import('./work.ts') },
  mcp: { summary: 'serves the archive to agents: MCP on stdio', load: () => import('./mcp.ts') },
  install: { summary: 'sets up the MCP server and hooks in your agents', load: () => import('./install.ts') },
  hook: { summary: "answers a client's hook, for compact install", load: () => import('./hook.ts'), isHidden: true },
  config: { summary: 'shows and changes the settings', load: () => import('./config.ts') },
  schema: { summary: 'prints the JSON Schema of a --json report', load: () => import('./schema.ts') },
  completion: {
    summary: 'prints completions for a shell',
    load: async () => ({ command: (await import('./completion.ts')).createCompletionCommand(listShown) }),
  },
  help: { summary: 'shows help for a command' },
} satisfies Readonly<Record<string, Entry>>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES: readonly CommandName[] = Object.keys(COMMANDS).filter(isCommandName);

/** The commands that people use, with their summaries. */
export const SHOWN_COMMANDS: readonly (readonly [CommandName, string])[] = COMMAND_NAMES.flatMap((name) => {
  const entry: Entry = COMMANDS[name];
  return entry.isHidden === true ? [] : [[name, entry.summary] as const];
});

export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

/** Null: the default command. */
export async function loadCommand(name: Exclude<CommandName, 'help'> | null): Promise<Command> {
  return (await COMMANDS[name ?? 'run'].load()).command;
}

/** The actions of all commands that have any: `archive list`. Imports every command. */
export async function loadActions(): Promise<readonly { readonly command: string; readonly action: string }[]> {
  const all = await loadAll();
  return all.flatMap(([command, { actions = [] }]) => actions.map((action) => ({ command, action })));
}

/**
 * Whether a flag before the command's name takes the next word as its value. Imports every command if the default one does not
 * know the flag.
 */
export async function takesNextWord(word: string): Promise<boolean> {
  if (!ONE_FLAG.test(word) || ROOT_FLAGS.has(word)) return false;
  const known = (await loadCommand(null)).flags;
  const all = known.some((flag) => namesOf(flag).includes(word))
    ? known
    : (await loadAll()).flatMap(([, { flags }]) => flags);
  return all.some((flag) => takesValue(flag) && namesOf(flag).includes(word));
}

const ONE_FLAG = /^(?:-[A-Za-z0-9]|--[a-z-]+)$/;
const ROOT_FLAGS: ReadonlySet<string> = new Set(['-h', '--help', '-V', '--version']);

/** Every command that has a module, by name. */
export async function loadAll(): Promise<readonly (readonly [string, Command])[]> {
  const entries: [string, Entry][] = Object.entries(COMMANDS);
  return Promise.all(
    entries.flatMap(([name, { load }]) =>
      load === undefined ? [] : [load().then(({ command }) => [name, command] as const)],
    ),
  );
}

/** The commands that people use, each with its definition and summary. */
export async function loadShown(): Promise<
  readonly { readonly name: string; readonly summary: string; readonly command: Command }[]
> {
  const loaded = new Map(await loadAll());
  return SHOWN_COMMANDS.flatMap(([name, summary]) => {
    const command = loaded.get(name);
    return command === undefined ? [] : [{ name, summary, command }];
  });
}

/** The commands that people use, and `help`, which has no definition. */
async function listShown(): Promise<
  readonly { readonly name: string; readonly summary: string; readonly command: Command | null }[]
> {
  return [...(await loadShown()), { name: 'help', summary: COMMANDS.help.summary, command: null }];
}
