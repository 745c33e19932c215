import { Argument, Command as Program, CommanderError, InvalidArgumentError, Option } from 'commander';
import { likelyName, nearestName } from '../../config/nearest.ts';
import type { Command } from './command.ts';
import type { UsageProblem } from '../../messages/problems.ts';
import type { Flag, Operands, ParseValue } from './line.ts';

/** Commander's parser for a command. It writes nothing: errors and help are values. */

export type ProgramFacts = {
  readonly version: string;
  /** For help texts. */
  readonly widthColumns: number;
  /** Standard input is a pipe or a file. */
  readonly hasInput: boolean;
  /** The time of this run, in Unix milliseconds; ages are relative to it. */
  readonly nowMs: number;
};

type Building = {
  readonly name: string;
  readonly description: string;
  readonly command: Command;
  readonly facts: Pick<ProgramFacts, 'widthColumns' | 'nowMs'>;
};

export function buildProgram({ name, description, command, facts }: Building): Program {
  const program = new Program(name);
  program
    .description(description)
    .helpOption('-h, --help', 'show this help')
    .allowExcessArguments(false)
    .showSuggestionAfterError(false)
    .exitOverride()
    // commander does not wrap descriptions that would get fewer columns than this; its 40 are too many for narrow terminals.
    .configureHelp({ minWidthToWrap: MIN_DESCRIPTION_COLUMNS })
    // commander must print nothing: `parseWith` returns its errors, and help comes from `helpInformation`.
    .configureOutput({
      writeOut: () => {},
      writeErr: () => {},
      getOutHelpWidth: () => facts.widthColumns,
      getErrHelpWidth: () => facts.widthColumns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .action(() => {});
  for (const operand of [command.operands].flat()) program.addArgument(toArgument(operand));
  for (const flag of command.flags) program.addOption(toOption(flag, facts.nowMs));
  return program;
}

const MIN_DESCRIPTION_COLUMNS = 20;

function toArgument({ syntax, description, choices }: Operands): Argument {
  const argument = new Argument(syntax, description);
  return choices === undefined ? argument : argument.choices(choices);
}

function toOption(flag: Flag, nowMs: number): Option {
  const option = new Option(flag.flags, flag.description);
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
export function parseWith(program: Program, argv: readonly string[]): 'help' | UsageProblem | null {
  // Commander would make the text of `--help` for nobody: the caller makes it, with all commands.
  program.configureHelp({ formatHelp: () => '' });
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.code === 'commander.helpDisplayed' ? 'help' : describeError(error, program);
  }
  const swallowed = findSwallowedFlag(program);
  return swallowed === null ? null : { message: swallowed, command: program.name() };
}

function describeError(error: CommanderError, program: Program): UsageProblem {
  const message = error.message.replace(/^error: /, '');
  const unknown = error.code === 'commander.unknownOption' ? /^unknown option '(.*)'$/s.exec(message)?.[1] : undefined;
  if (unknown !== undefined) {
    const described = `${message}${nearOption(unknown, program)}`;
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

/** Always an existing name; for a single letter all are equally near, so all are listed. */
function nearOption(unknown: string, program: Program): string {
  const known = program.options.flatMap((option) => (option.long === undefined ? [] : [option.long]));
  const [flag = unknown] = unknown.split('=');
  const likely = likelyName(flag, known);
  if (likely !== null || !flag.startsWith('--')) return suggestion(likely);
  return `: the nearest known one is ${nearestName(flag, known)}`;
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
