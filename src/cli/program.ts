import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { likelyName, nearestName } from '../config/nearest.ts';
import { err, ok, type Result } from '../core/result.ts';
import { COMMAND_NAMES, type CommandName, splitCommandLine } from './command-word.ts';
import type { CommandDefinition, Flag, Operands, Options, ParseValue } from './commands/definition.ts';
import { loadDefinition } from './commands/load.ts';
import { findConflict } from './conflicts.ts';
import { HELP_AFTER, PURPOSE, SHORT_HELP, SUMMARIES } from './help-text.ts';
import type { Invocation, UsageProblem } from './invocation.ts';

export type ProgramFacts = {
  readonly version: string;
  /** For help texts. */
  readonly widthColumns: number;
  /** Something is piped or redirected into the program. */
  readonly hasInput: boolean;
  /** Of this run, in Unix milliseconds: what ages are counted from. */
  readonly nowMs: number;
};

/** Any command line as data, and what is wrong with it in words. Loads only the command that it names. */
export async function parseArguments(
  argv: readonly string[],
  facts: ProgramFacts,
): Promise<Result<Invocation, UsageProblem>> {
  const { command, rest, isOpen } = splitCommandLine(argv);
  if (command === 'help') return parseHelp(rest, facts);
  const definition = await loadDefinition(command);
  const line = { command, definition, isOpen, facts };
  const parsed = await parseLine({ ...line, argv: rest, isStdinImplied: false });
  if (!facts.hasInput || definition.takesPipe !== true || !lacksOperand(parsed)) {
    return argv.length === 0 ? ok({ kind: 'help', text: SHORT_HELP, isAnswer: false }) : parsed;
  }
  const piped = await parseLine({ ...line, argv: [...rest, '-'], isStdinImplied: true });
  // What speaks against standard input speaks for an operand that was forgotten.
  return piped.ok ? piped : parsed;
}

function lacksOperand(parsed: Result<Invocation, UsageProblem>): boolean {
  return !parsed.ok && parsed.error.lacksOperand === true;
}

type Line = {
  readonly argv: readonly string[];
  readonly command: CommandName | null;
  readonly definition: CommandDefinition<Invocation>;
  readonly isOpen: boolean;
  readonly isStdinImplied: boolean;
  readonly facts: ProgramFacts;
};

async function parseLine(line: Line): Promise<Result<Invocation, UsageProblem>> {
  const { argv, command, definition, facts } = line;
  const program = buildCommand({ name: command, definition, facts });
  if (command === null) addRootFlags(program);
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') {
      return ok({ kind: 'help', text: await renderHelp(command, facts), isAnswer: true });
    }
    return err(describeError(error, program));
  }
  const swallowed = findSwallowedFlag(program);
  if (swallowed !== null) return err({ message: swallowed, command: program.name() });
  return readInvocation(program, line);
}

function readInvocation(
  program: Command,
  { argv, definition, isOpen, isStdinImplied, facts }: Line,
): Result<Invocation, UsageProblem> {
  if (program.getOptionValue('version') === true) return ok({ kind: 'version', version: facts.version });
  const invocation = definition.read({
    options: program.opts<Options>(),
    args: program.args,
    openWords: isOpen ? wordsBeforeDashes(program.args, argv) : [],
    isStdinImplied,
  });
  if (invocation.kind === 'compact' && program.getOptionValue('formats') === true) {
    return ok({ kind: 'formats', manner: invocation.manner, settings: invocation.settings });
  }
  const conflict = findConflict(invocation);
  if (conflict === null) return ok(invocation);
  return err({ message: conflict, command: program.name(), ...(program.args.length === 0 && { lacksOperand: true }) });
}

/** The operands in front of `--`; behind it every word is a file. */
function wordsBeforeDashes(operands: readonly string[], argv: readonly string[]): readonly string[] {
  const dashes = argv.indexOf('--');
  return dashes === -1 ? operands : operands.slice(0, operands.length - (argv.length - dashes - 1));
}

async function parseHelp(rest: readonly string[], facts: ProgramFacts): Promise<Result<Invocation, UsageProblem>> {
  const wanted = rest.find((word) => !word.startsWith('-'));
  const command = COMMAND_NAMES.find((name) => name === wanted);
  if (wanted !== undefined && command === undefined) {
    const message = `there is no command '${wanted}'${suggestion(likelyName(wanted, COMMAND_NAMES))}`;
    return err({ message, command: 'compact' });
  }
  const topic = command === undefined || command === 'help' ? null : command;
  return ok({ kind: 'help', text: await renderHelp(topic, facts), isAnswer: true });
}

async function renderHelp(name: CommandName | null, facts: ProgramFacts): Promise<string> {
  const definition = await loadDefinition(name);
  const program = buildCommand({ name, definition, facts });
  if (name !== null) return program.helpInformation();
  addRootFlags(program);
  for (const command of COMMAND_NAMES) program.command(command).summary(SUMMARIES[command]);
  program.usage('[options] <transcript...>\n       compact <command> …').helpCommand(false);
  return `${program.helpInformation()}\n${HELP_AFTER}`;
}

type Building = {
  readonly name: CommandName | null;
  readonly definition: CommandDefinition<Invocation>;
  readonly facts: ProgramFacts;
};

function buildCommand({ name, definition, facts }: Building): Command {
  const program = new Command(name === null ? 'compact' : `compact ${name}`);
  program
    .description(name === null ? PURPOSE : SUMMARIES[name])
    .helpOption('-h, --help', 'show this help')
    .allowExcessArguments(false)
    .showSuggestionAfterError(false)
    .exitOverride()
    // What commander would print is made of its errors and `helpInformation` instead: parsing writes nothing.
    .configureOutput({
      writeOut: () => {},
      writeErr: () => {},
      getOutHelpWidth: () => facts.widthColumns,
      getErrHelpWidth: () => facts.widthColumns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .action(() => {});
  for (const operand of [definition.operands].flat()) program.addArgument(toArgument(operand));
  for (const flag of definition.flags) program.addOption(toOption(flag, facts.nowMs));
  return program;
}

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

function addRootFlags(program: Command): void {
  program.option('-V, --version', 'show the version');
}

function describeError(error: CommanderError, program: Command): UsageProblem {
  const message = error.message.replace(/^error: /, '');
  const unknown = error.code === 'commander.unknownOption' ? /^unknown option '(.*)'$/s.exec(message)?.[1] : undefined;
  if (unknown !== undefined) {
    const told = `${message}${nearOption(unknown, program)}`;
    if (program.name() !== 'compact search') return { message: told, command: program.name() };
    const aside = 'text that begins with a dash stands behind --';
    return { message: `${told}${told.endsWith('?') ? ' If not,' : ';'} ${aside}`, command: program.name() };
  }
  if (error.code === 'commander.missingArgument') return { message, command: program.name(), lacksOperand: true };
  const [, value, choices] = CHOICE_ERROR.exec(message) ?? [];
  const hasChoices = value !== undefined && choices !== undefined;
  const likely = hasChoices ? suggestion(likelyName(value, choices.split(', '))) : '';
  return { message: `${message.replace(/\.$/, '')}${likely}`, command: program.name() };
}

const CHOICE_ERROR = /'([^']*)' is invalid.* Allowed choices are (.*)\.$/s;

/** Always a name that exists; for a single letter all of them are as near. */
function nearOption(unknown: string, program: Command): string {
  const known = program.options.flatMap((option) => (option.long === undefined ? [] : [option.long]));
  const [flag = unknown] = unknown.split('=');
  const likely = likelyName(flag, known);
  if (likely !== null || !flag.startsWith('--')) return suggestion(likely);
  return `: the nearest known one is ${nearestName(flag, known)}`;
}

function suggestion(name: string | null): string {
  return name === null ? '' : `: did you mean ${name}?`;
}

/** commander takes `-o --json` for an output named `--json`: nobody means that. */
function findSwallowedFlag(program: Command): string | null {
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
