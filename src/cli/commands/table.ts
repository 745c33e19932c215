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

const entry = (summary: string, load: NonNullable<Entry['load']>) => ({ summary, load });

/** The commands that help lists, group by group. The short help lists only the first group. */
const GROUPS = {
  Everyday: {
    scan: entry('finds transcripts, and what there is to save', () => import('./scan.ts')),
    resume: entry('compacts a session, and goes on in its program', () => import('./resume.ts')),
    handoff: entry('hands a session to another program or person', () => import('./handoff.ts')),
    search: entry('searches archived messages and summaries', () => import('./search.ts')),
    undo: entry('undoes the last run, every file of it', () => import('./undo.ts')),
  },
  'Look closer': {
    score: entry('ranks messages by importance', () => import('./score.ts')),
    report: entry('shows what was kept, quoted and left; as a page too', () => import('./report.ts')),
    show: entry('shows an archived message or summary', () => import('./show.ts')),
    rules: entry('lists your standing rules, and where you said each', () => import('./rules.ts')),
    verify: entry('proves that nothing is lost', () => import('./verify.ts')),
    restore: entry('restores the original, byte for byte', () => import('./restore.ts')),
  },
  Keep: {
    capture: entry('stores whole sessions; --remove frees their disk', () => import('./capture.ts')),
    archive: entry('lists, checks, protects, merges and erases its data', () => import('./archive.ts')),
  },
  'Set up': {
    install: entry('sets up the MCP server and hooks in your agents', () => import('./install.ts')),
    config: entry('shows and changes the settings', () => import('./config.ts')),
  },
  'At scale': {
    batch: entry('summarizes at half price through batch APIs', () => import('./batch.ts')),
    work: entry('compacts files from a queue that workers share', () => import('./work.ts')),
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Entry>>>>;

const HELP = { summary: 'shows help for a command' };

/** Every command, in the order of `compact --help`. Registration, help, loading and suggestions come from this table. */
export const COMMANDS = {
  ...GROUPS.Everyday,
  ...GROUPS['Look closer'],
  ...GROUPS.Keep,
  ...GROUPS['Set up'],
  ...GROUPS['At scale'],
  // Only their own help, completions and the documentation name these.
  run: entry('the default command, for files named like a command', () => import('./compact.ts')),
  mcp: entry('serves the archive to agents: MCP on stdio', () => import('./mcp.ts')),
  hook: { ...entry("answers a client's hook, for compact install", () => import('./hook.ts')), isHidden: true },
  schema: entry('prints the JSON Schema of a --json report', () => import('./schema.ts')),
  completion: entry('prints completions for a shell', async () => ({
    command: (await import('./completion.ts')).createCompletionCommand(async () => [
      ...(await loadShown()),
      { ...HELP, name: 'help', command: null },
    ]),
  })),
  help: HELP,
} satisfies Readonly<Record<string, Entry>>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES: readonly CommandName[] = Object.keys(COMMANDS).filter(isCommandName);

/** The commands that people use, with their summaries. */
export const SHOWN_COMMANDS: readonly (readonly [CommandName, string])[] = COMMAND_NAMES.flatMap((name) => {
  const entry: Entry = COMMANDS[name];
  return entry.isHidden === true ? [] : [[name, entry.summary] as const];
});

/** The commands that help lists, group by group. */
export function listGroups() {
  return Object.entries(GROUPS).map(([title, commands]) => ({
    title,
    rows: Object.entries(commands).map(([name, { summary }]) => [name, summary] as const),
  }));
}

export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

/** Null: the default command. */
export async function loadCommand(name: Exclude<CommandName, 'help'> | null): Promise<Command> {
  return (await COMMANDS[name ?? 'run'].load()).command;
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
