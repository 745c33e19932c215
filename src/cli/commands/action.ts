import type { SettingsUse } from '../../config/setting.ts';
import { err, ok } from '../../core/result.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { CommonRequest } from '../invocation.ts';
import type { CliContext } from '../session.ts';
import type { Command, Flag, Operands, OptionsOf } from './command.ts';
import {
  type FORMAT_FLAG,
  type OUTPUT_FLAGS,
  readOutputOptions,
  readSettings,
  type SettingsOptions,
} from './options.ts';

/** What a line asks of an action, as `compact archive prune …` does. */
export type Asked<Options = object> = CommonRequest & {
  /** What follows the action. */
  readonly operands: readonly string[];
  readonly options: Options;
};

/** One action of a command that has several: its help, its flags and its run. `Place` is what it works with. */
type ActionSpec<Place, Options, Flags extends readonly Flag[]> = {
  /** The command's help says this about it. */
  readonly summary: string;
  /** Those that not every action of the command takes. */
  readonly flags: Flags;
  /** Settings that it depends on, if they are not those of the command. */
  readonly needs?: readonly SettingsUse[];
  /** Why it does not take these operands; null: it does. Without this it takes none. */
  readonly refuseOperands?: (operands: readonly string[]) => string | null;
  /** Why flags and operands cannot be combined; null: they can. Looks only at the command line. */
  readonly findConflict?: (asked: Asked<Options>) => string | null;
  readonly run: (place: Place, asked: Asked<Options>) => ExitCode | Promise<ExitCode>;
};

/** An action whose options are known to itself alone. */
export type Action<Place> = ActionSpec<Place, object, readonly Flag[]>;

export function defineAction<Place, const F extends readonly Flag[]>(
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
  readonly refuse: (action: string, line: Doubtful) => string | null;
  /** Makes what the action works with, and runs it. */
  readonly run: (
    context: CliContext,
    asked: CommonRequest & Pick<Action<Place>, 'needs'> & { readonly format: string | null },
    work: (place: Place) => Promise<ExitCode>,
  ) => Promise<ExitCode>;
};

type Doubtful = {
  readonly operandProblem: string | null;
  /** The flags on the line that only other actions take. */
  readonly foreign: readonly Flag[];
  /** Whether the action takes a flag. */
  readonly takes: (flag: Flag) => boolean;
};

/** A command whose first operand is an action: `compact archive list`. */
export function defineActions<Place>(spec: ActionsSpec<Place>): Command {
  const { name: kind, actions, operands, refuseOperands, refuse, run, ...command } = spec;
  const all = Object.entries(actions);
  const names = Object.keys(actions);
  return {
    ...command,
    operands: [{ syntax: '<action>', description: describe(all), choices: names }, ...operands],
    actions: names,
    read: ({ args: [name = '', ...rest], options, given }) => {
      const action = actions[name];
      // The parser lets no other word through.
      if (action === undefined) return err(`there is no ${kind} ${name}`);
      const common = readCommon(options);
      const asked = { ...common, operands: rest, options };
      const takes = (flag: Flag): boolean => action.flags.includes(flag);
      const foreign = given.filter((flag) => !takes(flag) && all.some(([, { flags }]) => flags.includes(flag)));
      const operandProblem =
        action.refuseOperands === undefined
          ? rest.length === 0
            ? null
            : refuseOperands(name, rest)
          : action.refuseOperands(rest);
      const conflict = refuse(name, { operandProblem, foreign, takes }) ?? action.findConflict?.(asked) ?? null;
      if (conflict !== null) return err(conflict);
      const request = {
        ...common,
        format: readFormat(options),
        ...(action.needs !== undefined && { needs: action.needs }),
      };
      return ok({
        request: { kind, action: name, ...asked },
        run: (context) => run(context, request, async (place) => action.run(place, asked)),
      });
    },
  };
}

function readCommon(options: OptionsOf<typeof OUTPUT_FLAGS> & SettingsOptions): CommonRequest {
  return { outputOptions: readOutputOptions(options), settings: readSettings(options) };
}

function readFormat({ format }: OptionsOf<readonly [typeof FORMAT_FLAG]>): string | null {
  return format ?? null;
}

/** 'path: the file that is read; get, set: one setting' */
function describe(actions: readonly (readonly [name: string, help: { readonly summary: string }])[]): string {
  const names = Map.groupBy(actions, ([, { summary }]) => summary);
  return [...names].map(([summary, all]) => `${all.map(([name]) => name).join(', ')}: ${summary}`).join('; ');
}
