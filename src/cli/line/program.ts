import { Argument, Command as Program, CommanderError, InvalidArgumentError, Option } from 'commander';
import { likelyName } from '../../config/nearest.ts';
import type { Command } from './command.ts';
import type { UsageProblem } from '../../messages/problems.ts';
import { type Flag, namesOf, type Operands, type ParseValue } from './line.ts';

/** Commander's parser for a command. It writes nothing: errors and help are values. */

export type ProgramFacts = {
  readonly version: string;
  /** For help texts: the width, and how the user calls this program. */
  readonly widthColumns: number;
  readonly program: () => string;
  /** Standard input is a pipe or a file. */
  readonly hasInput: boolean;
  /** The time of this run, in Unix milliseconds; ages are relative to it. */
  readonly nowMs: number;
};

export function buildProgram(
  name: string,
  { operands, flags }: Command,
  { nowMs }: Pick<ProgramFacts, 'nowMs'>,
): Program {
  const program = new Program(name);
  program
    .helpOption('-h, --help')
    .allowExcessArguments(false)
    .showSuggestionAfterError(false)
    .exitOverride()
    // commander must print nothing: `parseWith` returns its errors, and help comes from `render/help.ts`.
    .configureHelp({ formatHelp: () => '' })
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .action(() => {});
  for (const operand of [operands].flat()) program.addArgument(toArgument(operand));
  for (const flag of flags) program.addOption(toOption(flag, nowMs));
  return program;
}

function toArgument({ syntax, choices }: Operands): Argument {
  const argument = new Argument(syntax);
  return choices === undefined ? argument : argument.choices(choices);
}

function toOption(flag: Flag, nowMs: number): Option {
  const option = new Option(flag.flags);
  if (flag.choices !== undefined) option.choices(flag.choices);
  if (flag.default !== undefined) option.default(flag.default);
  if (flag.conflicts !== undefined) option.conflicts([flag.conflicts].flat());
  if (flag.parse !== undefined) option.argParser(throwing(flag.parse, nowMs));
  if (flag.isRepeatable === true)
    option.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text]);
  return option;
}

function throwing(parse: ParseValue, nowMs: number): (text: string) => string | number {
  return (text) => {
    const parsed = parse(text, nowMs);
    if (!parsed.ok) throw new InvalidArgumentError(parsed.error);
    return parsed.value;
  };
}

/** Null: the line is valid. */
export function parseWith(program: Program, { flags }: Command, argv: readonly string[]): 'help' | UsageProblem | null {
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.code === 'commander.helpDisplayed' ? 'help' : describeError(error, { program, flags });
  }
  const swallowed = findSwallowedFlag(program);
  return swallowed === null ? null : { message: swallowed, command: program.name() };
}

type Refused = { readonly program: Program; readonly flags: readonly Flag[] };

function describeError(error: CommanderError, { program, flags: known }: Refused): UsageProblem {
  const message = error.message.replace(/^error: /, '');
  const unknown = error.code === 'commander.unknownOption' ? /^unknown option '(.*)'$/s.exec(message)?.[1] : undefined;
  if (unknown !== undefined) {
    const described = `${message}${nearOption(unknown, { program, flags: known })}`;
    if (program.name() !== 'compact search') return { message: described, command: program.name() };
    const aside = 'put text that begins with a dash after --';
    return { message: `${described}${described.endsWith('?') ? ' If not,' : ';'} ${aside}`, command: program.name() };
  }
  if (error.code === 'commander.missingArgument') return describeMissing(program);
  if (error.code === 'commander.optionMissingArgument') {
    return { message: message.replace(/ argument missing$/, ' needs a value'), command: program.name() };
  }
  const [, flags, argument, value = '', reason = ''] = INVALID.exec(message) ?? [];
  if (flags === undefined && argument === undefined) return { message, command: program.name() };
  const [, choices] = /^Allowed choices are (.*)\.$/s.exec(reason) ?? [];
  const must = choices === undefined ? reason : `It must be one of ${choices}`;
  const likely = choices === undefined ? '' : suggestion(likelyName(value, choices.split(', ')));
  const name = flags?.replace(/ <.*/, '').split(', ').at(-1) ?? `the ${argument}`;
  return { message: `${name} cannot be '${value}'. ${must.replace(/\.$/, '')}${likely}`, command: program.name() };
}

/** commander's words for a wrong value of an option, or of an argument. */
const INVALID =
  /^(?:option '([^']*)' argument|command-argument value(?=.* is invalid for argument '([^']*)')) '(.*)' is invalid(?: for argument '[^']*')?\. (.*)$/s;

function describeMissing(program: Program): UsageProblem {
  const missing = program.registeredArguments.find(({ required }) => required);
  const choices = missing?.argChoices === undefined ? '' : `: it must be one of ${missing.argChoices.join(', ')}`;
  return {
    message: `no ${missing?.name() ?? 'argument'} given${choices}`,
    command: program.name(),
    lacksOperand: true,
  };
}

const MAX_NAMED = 8;

/** The option that was meant, or those that the command has; for a single letter all are equally near, so none is named. */
function nearOption(unknown: string, { program, flags }: Refused): string {
  const [flag = unknown] = unknown.split('=');
  const likely = likelyName(
    flag,
    flags.flatMap(namesOf).filter((name) => name.startsWith('--')),
  );
  if (likely !== null || !flag.startsWith('--')) return suggestion(likely);
  const own = flags.filter(({ isRare }) => isRare !== true);
  const named = (own.length > 0 ? own : flags).slice(0, MAX_NAMED).map((one) => namesOf(one).at(-1) ?? one.flags);
  return named.length === 0 ? '' : `: ${program.name()} takes ${named.join(', ')}, …`;
}

export function suggestion(name: string | null): string {
  return name === null ? '' : `: did you mean ${name}?`;
}

/** commander accepts `-o --json` as an output file named `--json`, which nobody means. */
function findSwallowedFlag(program: Program): string | null {
  for (const option of program.options) {
    const value: unknown = program.getOptionValue(option.attributeName());
    if (typeof value !== 'string') continue;
    const swallowed = program.options.find((other) => value === other.long || value === other.short);
    if (option.required && swallowed !== undefined) {
      return `option '${option.flags}' needs a value, and '${value}' is an option`;
    }
  }
  return null;
}
