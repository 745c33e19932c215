import { Argument, Command as Program, CommanderError, InvalidArgumentError, Option } from 'commander';
import { likelyName } from '../../config/nearest.ts';
import { err, ok, type Result } from '../../core/result.ts';
import {
  COMMAND_NAMES,
  type CommandName,
  COMMANDS,
  isCommandName,
  listGroups,
  loadCommand,
  loadShown,
  takesNextWord,
} from '../commands/table.ts';
import type { Call, Command } from './command.ts';
import type { UsageProblem } from '../../messages/problems.ts';
import { type Flag, namesOf } from './line.ts';

/** What a command line asks for. */
export type Parsed =
  | ({ readonly kind: 'command' } & Call & {
        /** The operands that could be a mistyped command; empty after a command's name or `--`. */
        readonly openWords: readonly string[];
      })
  | { readonly kind: 'version'; readonly version: string; readonly isVerbose: boolean }
  /** `isAnswer` false: nobody asked for help, so the text goes to stderr. */
  | { readonly kind: 'help'; readonly text: string; readonly isAnswer: boolean };

/** Parses a command line, or says what is wrong with it. Imports only the command that the line names. */
export async function parseArguments(
  argv: readonly string[],
  facts: ProgramFacts,
): Promise<Result<Parsed, UsageProblem>> {
  const { command: name, rest, isOpen } = await splitCommandLine(argv);
  if (name === 'help') return parseHelp(rest, facts);
  const command = await loadCommand(name);
  const line = { name, command, isOpen, facts };
  const parsed = await parseLine({ ...line, argv: rest, isStdinImplied: false });
  const lacksOperand = !parsed.ok && parsed.error.lacksOperand === true;
  if (!facts.hasInput || command.takesPipe !== true || !lacksOperand)
    return argv.length === 0 ? ok({ kind: 'help', text: shortHelp(facts.program()), isAnswer: false }) : parsed;
  const piped = await parseLine({ ...line, argv: [...rest, '-'], isStdinImplied: true });
  // If standard input cannot be used here, the operand was forgotten.
  return piped.ok ? piped : parsed;
}

/**
 * The command is the first argument that is neither a flag nor a flag's value, if it is a command's name: flags may come
 * before it. After `--` everything is a file. `isOpen`: the first operand is where a command could be, so it may be a mistyped one.
 */
export async function splitCommandLine(
  argv: readonly string[],
): Promise<{ readonly command: CommandName | null; readonly rest: readonly string[]; readonly isOpen: boolean }> {
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') break;
    if (word === '-' || !word.startsWith('-')) {
      if (!isCommandName(word)) return { command: null, rest: argv, isOpen: true };
      return { command: word, rest: argv.toSpliced(index, 1), isOpen: false };
    }
    if (await takesNextWord(word)) index += 1;
  }
  return { command: null, rest: argv, isOpen: false };
}

type Topic = Exclude<CommandName, 'help'> | null;

type Line = {
  readonly argv: readonly string[];
  readonly name: Topic;
  readonly command: Command;
  readonly isOpen: boolean;
  readonly isStdinImplied: boolean;
  readonly facts: ProgramFacts;
};

async function parseLine(line: Line): Promise<Result<Parsed, UsageProblem>> {
  const { argv, name, command, isOpen, isStdinImplied, facts } = line;
  const program = buildProgram(name === null ? 'compact' : `compact ${name}`, command, facts);
  if (name === null) program.option('-V, --version');
  const problem = await parseWith(program, command, argv);
  if (problem === 'help') {
    const isLong = argv.includes('--help');
    return ok({ kind: 'help', text: await helpFor(name, { words: argv, isLong, facts }), isAnswer: true });
  }
  if (problem !== null) return err(problem);
  if (program.getOptionValue('version') === true) {
    const isVerbose = program.getOptionValue('verbose') === true;
    return ok({ kind: 'version', version: facts.version, isVerbose });
  }
  // Every word after `--` is a file.
  const dashes = argv.indexOf('--');
  const behind = dashes === -1 ? 0 : argv.length - dashes - 1;
  const words = program.args.slice(0, program.args.length - behind);
  const isGiven = (option: Option): boolean => program.getOptionValueSource(option.attributeName()) === 'cli';
  const given = program.options.filter(isGiven).map(({ flags }) => flags);
  const call = command.read({
    command: program.name(),
    options: program.opts(),
    given: command.flags.filter(({ flags }) => given.includes(flags)),
    ...(command.passesOn === true
      ? { operands: words, passed: program.args.slice(words.length) }
      : { operands: program.args }),
    isStdinImplied,
  });
  if (!call.ok) {
    const lacking = program.args.length === 0 ? { lacksOperand: true } : {};
    return err({ message: call.error, command: helpedBy(program, command, argv), ...lacking });
  }
  return ok({ kind: 'command', ...call.value, openWords: isOpen ? words : [] });
}

async function parseHelp(rest: readonly string[], facts: ProgramFacts): Promise<Result<Parsed, UsageProblem>> {
  const wanted = rest.find((word) => !word.startsWith('-')) ?? 'help';
  if (!isCommandName(wanted)) {
    const message = `there is no command '${wanted}'${suggestion(likelyName(wanted, COMMAND_NAMES))}`;
    return err({ message, command: 'compact' });
  }
  const topic = wanted === 'help' ? null : wanted;
  return ok({ kind: 'help', text: await helpFor(topic, { words: rest, isLong: true, facts }), isAnswer: true });
}

type Asked = { readonly words: readonly string[]; readonly isLong: boolean; readonly facts: ProgramFacts };

async function helpFor(name: Topic, { words, isLong, facts }: Asked): Promise<string> {
  const { renderCommandHelp, renderMainHelp } = await import('../render/help.ts');
  const command = await loadCommand(name);
  const asked = { isLong, widthColumns: facts.widthColumns, program: facts.program() };
  if (name === null) return renderMainHelp(command, { ...asked, groups: listGroups() });
  const { summary } = COMMANDS[name];
  return renderCommandHelp(command, { ...asked, name, summary, words });
}

/** Printed for a bare `compact`. */
function shortHelp(program: string): string {
  return `compact makes stored conversations smaller, and nothing is lost.
  ${program} scan              finds transcripts, and what there is to save
  ${program} -n session.jsonl  shows what would be done, and writes nothing
  ${program} session.jsonl     writes session.compact.jsonl beside it
  ${program} -h                the everyday commands and options
`;
}

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

/** Commander's parser for a command. It writes nothing: errors and help are values. */
function buildProgram(name: string, { operands, flags }: Command, { nowMs }: Pick<ProgramFacts, 'nowMs'>): Program {
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
  for (const { syntax, choices } of [operands].flat()) {
    const argument = new Argument(syntax);
    program.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const flag of flags) program.addOption(toOption(flag, nowMs));
  return program;
}

function toOption(flag: Flag, nowMs: number): Option {
  const option = new Option(flag.flags);
  if (flag.choices !== undefined) option.choices(flag.choices);
  if (flag.default !== undefined) option.default(flag.default);
  if (flag.conflicts !== undefined) option.conflicts([flag.conflicts].flat());
  const { parse } = flag;
  if (parse !== undefined)
    option.argParser((text) => {
      const parsed = parse(text, nowMs);
      if (!parsed.ok) throw new InvalidArgumentError(parsed.error);
      return parsed.value;
    });
  if (flag.isRepeatable === true)
    option.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), text]);
  return option;
}

/** The command line whose help explains a problem: with the action if it names one. */
function helpedBy(program: Program, { actions = [] }: Command, argv: readonly string[]): string {
  const action = actions.find(({ name }) => argv.includes(name));
  return action === undefined ? program.name() : `${program.name()} ${action.name}`;
}

/** Null: the line is valid. */
async function parseWith(
  program: Program,
  command: Command,
  argv: readonly string[],
): Promise<'help' | UsageProblem | null> {
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return 'help';
    const name = helpedBy(program, command, argv);
    const action = command.actions?.find((one) => name.endsWith(` ${one.name}`));
    return describeError(error, { program, name, flags: action?.flags ?? command.flags });
  }
  const swallowed = findSwallowedFlag(program);
  return swallowed === null ? null : { message: swallowed, command: helpedBy(program, command, argv) };
}

/** `name`: the command, with its action. */
type Refused = { readonly program: Program; readonly name: string; readonly flags: readonly Flag[] };

async function describeError(
  error: CommanderError,
  { program, name: command, flags: known }: Refused,
): Promise<UsageProblem> {
  const message = error.message.replace(/^error: /, '');
  const unknown = error.code === 'commander.unknownOption' ? /^unknown option '(.*)'$/s.exec(message)?.[1] : undefined;
  if (unknown !== undefined) {
    const described = `${message}${await nearOption(unknown, { program, name: command, flags: known })}`;
    if (command !== 'compact search') return { message: described, command };
    const aside = 'put text that begins with a dash after --';
    return { message: `${described}${described.endsWith('?') ? ' If not,' : ';'} ${aside}`, command };
  }
  if (error.code === 'commander.missingArgument') return describeMissing(program);
  if (error.code === 'commander.optionMissingArgument') {
    return { message: message.replace(/ argument missing$/, ' needs a value'), command };
  }
  const [, flags, argument, value = '', reason = ''] = INVALID.exec(message) ?? [];
  if (flags === undefined && argument === undefined) return { message, command };
  const [, choices] = /^Allowed choices are (.*)\.$/s.exec(reason) ?? [];
  const must = choices === undefined ? reason : `It must be one of ${choices}`;
  const listed = choices?.split(', ') ?? [];
  const other = OTHER_ACTIONS[value];
  const likely = suggestion(other !== undefined && listed.includes(other) ? other : likelyName(value, listed));
  const name = flags?.replace(/ <.*/, '').split(', ').at(-1) ?? `the ${argument}`;
  return { message: `${name} cannot be '${value}'. ${must.replace(/\.$/, '')}${likely}`, command };
}

/** What people type for an action that we call otherwise. */
const OTHER_ACTIONS: Readonly<Record<string, string>> = {
  ls: 'list',
  delete: 'erase',
  remove: 'erase',
  rm: 'erase',
  forget: 'erase',
  clean: 'prune',
  gc: 'prune',
  verify: 'check',
};

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

/** An option of more commands than these is that of none. */
const MAX_OWNERS = 2;

/**
 * The option that was meant, the other command that has it, or those that the command has; for a single letter all are equally near, so none is
 * named.
 */
async function nearOption(unknown: string, { program, name: command, flags }: Refused): Promise<string> {
  const [flag = unknown] = unknown.split('=');
  if (/^(?:-n|--dry-run)$/.test(flag) && flags.some((one) => namesOf(one).includes('--yes')))
    return ': without --yes, it only lists what it would remove';
  const all = await loadShown();
  const owners = all.filter((one) => one.command.flags.some((own) => namesOf(own).includes(flag)));
  const [{ name: owner } = { name: '' }] = owners;
  if (owners.length > 0 && owners.length <= MAX_OWNERS && `compact ${owner}` !== program.name())
    return `, which is for ${owners.map(({ name }) => `'compact ${name}'`).join(' and ')}`;
  if (!flag.startsWith('--')) return '';
  const likely = likelyName(
    flag,
    flags.flatMap(namesOf).filter((name) => name.startsWith('--')),
  );
  if (likely !== null) return suggestion(likely);
  const own = flags.filter(({ isRare }) => isRare !== true);
  const named = (own.length > 0 ? own : flags).slice(0, MAX_NAMED).map((one) => namesOf(one).at(-1) ?? one.flags);
  return `: ${command} ${named.length === 0 ? 'has no options of its own' : `takes ${named.join(', ')}, …`}`;
}

function suggestion(name: string | null): string {
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
