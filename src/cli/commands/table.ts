import type { Command } from '../line/command.ts';
import { namesOf, takesValue } from '../line/line.ts';

type Entry = {
  /** One short line of `compact --help`. */
  readonly summary: string;
  /** Where help lists it; without one only its own help, completions and the documentation name it. */
  readonly group?: CommandGroup;
  /** Imports the command only when it is needed. `help` has nothing to import. */
  readonly load?: () => Promise<{ readonly command: Command }>;
  /** Other programs call it: neither the list of commands nor completions name it. */
  readonly isHidden?: true;
};

/** In the order of `compact --help`. The short help lists only the first. */
const COMMAND_GROUPS = ['Everyday', 'Look closer', 'Keep', 'Set up', 'At scale'] as const;
type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** Every command, in the order of `compact --help`. Registration, help, loading and suggestions come from this table. */
export const COMMANDS = {
  scan: { summary: 'finds transcripts, and what there is to save', group: 'Everyday', load: () => import('./scan.ts') },
  resume: {
    summary: 'compacts a session, and goes on in its program',
    group: 'Everyday',
    load: () => import('./resume.ts'),
  },
  handoff: {
    summary: 'hands a session to another program or person',
    group: 'Everyday',
    load: () => import('./handoff.ts'),
  },
  search: { summary: 'searches archived messages and summaries', group: 'Everyday', load: () => import('./search.ts') },
  undo: { summary: 'undoes the last run, every file of it', group: 'Everyday', load: () => import('./undo.ts') },
  score: { summary: 'ranks messages by importance', group: 'Look closer', load: () => import('./score.ts') },
  report: {
    summary: 'shows what was kept, quoted and left; as a page too',
    group: 'Look closer',
    load: () => import('./report.ts'),
  },
  show: { summary: 'shows an archived message or summary', group: 'Look closer', load: () => import('./show.ts') },
  rules: {
    summary: 'lists your standing rules, and where you said each',
    group: 'Look closer',
    load: () => import('./rules.ts'),
  },
  verify: { summary: 'proves that nothing is lost', group: 'Look closer', load: () => import('./verify.ts') },
  restore: {
    summary: 'restores the original, byte for byte',
    group: 'Look closer',
    load: () => import('./restore.ts'),
  },
  capture: {
    summary: 'stores whole sessions; --remove frees their disk',
    group: 'Keep',
    load: () => import('./capture.ts'),
  },
  archive: {
    summary: 'lists, checks, protects, merges and erases its data',
    group: 'Keep',
    load: () => import('./archive.ts'),
  },
  install: {
    summary: 'sets up the MCP server and hooks in your agents',
    group: 'Set up',
    load: () => import('./install.ts'),
  },
  config: { summary: 'shows and changes the settings', group: 'Set up', load: () => import('./config.ts') },
  batch: {
    summary: 'summarizes at half price through batch APIs',
    group: 'At scale',
    load: () => import('./batch.ts'),
  },
  work: {
    summary: 'compacts files from a queue that workers share',
    group: 'At scale',
    load: () => import('./work.ts'),
  },
  run: { summary: 'the default command, for files named like a command', load: () => import('./compact.ts') },
  mcp: { summary: 'serves the archive to agents: MCP on stdio', load: () => import('./mcp.ts') },
  hook: { summary: "answers a client's hook, for compact install", load: () => import('./hook.ts'), isHidden: true },
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

/** The commands that help lists, group by group. */
export function listGroups(): readonly { readonly title: CommandGroup; readonly rows: readonly Row[] }[] {
  const entries: [string, Entry][] = Object.entries(COMMANDS);
  return COMMAND_GROUPS.map((title) => ({
    title,
    rows: entries.flatMap(([name, { group, summary }]) => (group === title ? [[name, summary] as const] : [])),
  }));
}

type Row = readonly [name: string, summary: string];

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
  return all.flatMap(([command, { actions = [] }]) => actions.map(({ name }) => ({ command, action: name })));
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
