import type { SettingsUse } from '../../config/setting.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { CliContext, Session, SessionRequest } from '../session.ts';
import type { ExitCode } from '../terminal/exit-codes.ts';
import { readOutputOptions, readSettings } from './flags.ts';
import type { CommonRequest, Flag, Line, Operands, OptionsOf } from './line.ts';

// What the file of a command needs beside `defineCommand`.
export { EXIT_CODES, type ExitCode } from '../terminal/exit-codes.ts';
export type { Flag, Line, OptionsOf, Session };

/** A command as data: its operands and flags, and how it is run. */
export type Command = {
  /** Several are parsed one after the other. */
  readonly operands: Operands | readonly Operands[];
  /** In the order in which help lists them. */
  readonly flags: readonly Flag[];
  /** Two or more lines that work as they are, and what each does. Help ends with them. */
  readonly examples: readonly [Example, Example, ...Example[]];
  /** What its first operand may be, for commands that have actions. */
  readonly actions?: readonly ActionHelp[];
  /** Without operands it reads what is piped in. */
  readonly takesPipe?: true;
  /** What stands behind `--` is for another program, and no operand. */
  readonly passesOn?: true;
  /** The error names options that cannot be combined. `given`: the flags that stand on the line, in the command's order. */
  readonly read: (line: Omit<Line, keyof CommonRequest> & { readonly given: readonly Flag[] }) => Result<Call, string>;
};

/** `flags`: those that not every action of the command takes; `takes`: what stands after it. */
export type ActionHelp = Required<Pick<Action<never>, 'summary' | 'flags' | 'takes'>> & { readonly name: string };

export type Example = readonly [line: string, meaning: string];
/** What a line asks for, and the function that does it. */
export type Call = { readonly line: Line; readonly run: (context: CliContext) => Promise<ExitCode> };

type Declaration<F extends readonly Flag[]> = Omit<Command, 'flags' | 'actions' | 'read'> & {
  readonly flags: F;
  /** Replaces what the line says by what holds for every line of this command. */
  readonly fix?: (common: CommonRequest) => CommonRequest;
  /** Why flags and operands cannot be combined; null: they can. Looks only at the command line. */
  readonly findConflict?: (line: Line<OptionsOf<F>>) => string | null;
};

type SessionNeeds = Omit<SessionRequest, keyof CommonRequest | 'command' | 'format'>;

/** A command that runs with settings and use cases. The type of its options follows from its flags. */
export function defineCommand<const F extends readonly Flag[]>({
  session,
  run,
  ...command
}: Declaration<F> & {
  readonly session: SessionNeeds | ((line: Line<OptionsOf<F>>) => SessionNeeds);
  readonly run: (session: Session, line: Line<OptionsOf<F>>) => Promise<ExitCode>;
}): Command {
  return defineBareCommand<F>({
    ...command,
    run: (context, line) => {
      const needs = typeof session === 'function' ? session(line) : session;
      return inSession(context, { ...needs, ...line, format: formatOf(line) }, (opened) => run(opened, line));
    },
  });
}

/** A command that needs no session, or opens one itself. */
export function defineBareCommand<const F extends readonly Flag[]>({
  fix = (common) => common,
  findConflict,
  run,
  ...command
}: Declaration<F> & {
  readonly run: (context: CliContext, line: Line<OptionsOf<F>>) => Promise<ExitCode>;
}): Command {
  return {
    ...command,
    read: ({ given: _given, ...parsed }) => {
      // They were parsed as these flags say.
      const line: Line<OptionsOf<F>> = { ...parsed, ...fix(readCommon(parsed)) };
      const conflict = findConflict?.(line) ?? null;
      return conflict === null ? ok({ line, run: (context) => run(context, line) }) : err(conflict);
    },
  };
}

function readCommon({ options }: Pick<Line, 'options'>): CommonRequest {
  return { outputOptions: readOutputOptions(options), settings: readSettings(options) };
}

export function formatOf({ options }: Line<{ readonly format?: string | undefined }>): string | null {
  return options.format ?? null;
}

/** Runs `work` with settings and use cases. They are imported only here, because help does not need them. */
export async function inSession(
  context: CliContext,
  request: SessionRequest,
  work: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  const session = await import('../session.ts');
  return session.inSession(context, request, work);
}

/** One action of a command that has several: its help, its flags and its run. `Place` is what it works with. */
type ActionSpec<Place, Options, Flags extends readonly Flag[]> = {
  /** The command's help says this about it. */
  readonly summary: string;
  /** Those that not every action of the command takes. */
  readonly flags?: Flags;
  /** The operands after it, for its own help. */
  readonly takes?: readonly Operands[];
  /** Settings that it depends on, if they are not those of the command. */
  readonly needs?: readonly SettingsUse[];
  /** Why it does not take these operands; null: it does. Without this it takes none. */
  readonly refuseOperands?: (operands: readonly string[]) => string | null;
  /** Why flags and operands cannot be combined; null: they can. Looks only at the command line. */
  readonly findConflict?: (line: Line<Options>) => string | null;
  /** The line's operands are those after the action. */
  readonly run: (place: Place, line: Line<Options>) => ExitCode | Promise<ExitCode>;
};

/** An action whose options are known to itself alone. */
export type Action<Place> = ActionSpec<Place, object, readonly Flag[]>;

export function defineAction<Place, const F extends readonly Flag[] = readonly []>(
  action: ActionSpec<Place, OptionsOf<F>, F>,
): Action<Place> {
  // `defineActions` gives it the options that were parsed as its flags say.
  return action;
}

type ActionsSpec<Place> = Pick<Command, 'flags' | 'examples'> & {
  readonly name: string;
  /** In the order in which help lists them. */
  readonly actions: Readonly<Record<string, Action<Place>>>;
  /** The operands after the action. */
  readonly operands: readonly Operands[];
  /** Why an action that takes no operands does not take these. */
  readonly refuseOperands: (action: string, operands: readonly string[]) => string;
  /** Why an action does not take what stands on the line; null: it does. */
  readonly refuse: (
    action: string,
    line: {
      readonly operandProblem: string | null;
      /** The flags on the line that only other actions take. */
      readonly foreign: readonly Flag[];
      /** Whether the action takes a flag. */
      readonly takes: (flag: Flag) => boolean;
    },
  ) => string | null;
  /** Makes what the action works with, and runs it. */
  readonly run: (
    context: CliContext,
    line: Line & Pick<Action<Place>, 'needs'> & { readonly format: string | null },
    work: (place: Place) => Promise<ExitCode>,
  ) => Promise<ExitCode>;
};

/** A command whose first operand is an action: `compact archive list`. */
export function defineActions<Place>(spec: ActionsSpec<Place>): Command {
  const { name: kind, actions, operands, refuseOperands, refuse, run, ...command } = spec;
  const all = Object.entries(actions);
  return {
    ...command,
    operands: [{ syntax: '<action>', description: 'what to do', choices: Object.keys(actions) }, ...operands],
    actions: all.map(([name, { summary, flags = [], takes = [] }]) => ({ name, summary, flags, takes })),
    read: ({ given, ...parsed }) => {
      const [name = '', ...rest] = parsed.operands;
      const action = actions[name];
      // The parser lets no other word through.
      if (action === undefined) return err(`there is no ${kind} ${name}`);
      const line = { ...parsed, ...readCommon(parsed), operands: rest };
      const takes = (flag: Flag, { flags = [] } = action): boolean => flags.includes(flag);
      const foreign = given.filter((flag) => !takes(flag) && all.some(([, other]) => takes(flag, other)));
      const isBare = action.refuseOperands === undefined && rest.length > 0;
      const operandProblem = isBare ? refuseOperands(name, rest) : (action.refuseOperands?.(rest) ?? null);
      const conflict = refuse(name, { operandProblem, foreign, takes }) ?? action.findConflict?.(line) ?? null;
      if (conflict !== null) return err(conflict);
      const needs = action.needs === undefined ? {} : { needs: action.needs };
      const request = { ...line, ...needs, format: formatOf(line) };
      return ok({ line, run: (context) => run(context, request, async (place) => action.run(place, line)) });
    },
  };
}
