import type { LookupFailure } from '../app/contract/failure.ts';
import { findMissed } from '../config/origins.ts';
import { loadConfig, type LoadedConfig } from '../config/load.ts';
import { nearestName } from '../config/nearest.ts';
import { type ResolvedSettings, resolveSettings } from '../config/resolve.ts';
import { hideCredentials, type SettingsUse } from '../config/setting.ts';
import { HIDDEN_PASSWORD, hidePassword, isArchiveUrl } from '../core/paths.ts';
import { err, ok } from '../core/result.ts';
import type { CreateUseCases, UseCases } from '../compose/use-cases.ts';
import type { RunMark } from '../ports/archive.ts';
import type { CommonRequest } from './line/line.ts';
import { DEFAULT_POOL_RULES, type FileSession, type PoolRules } from './pool/work-on-files.ts';
import { renderMissed, renderIgnored } from './render/config.ts';
import { renderFailure, renderNearFormats } from '../messages/failure.ts';
import { renderConfigProblem, renderUsageProblem } from '../messages/problems.ts';
import { quoteForShell, safeText } from '../messages/text.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from './terminal/exit-codes.ts';
import type { About } from './terminal/log.ts';
import { createReporter, type Reporter } from './terminal/reporter.ts';
import type { Terminal } from './terminal/terminal.ts';

/** What a command gets besides its line. */
export type CliContext = {
  readonly terminal: Terminal;
  readonly loadUseCases: () => Promise<CreateUseCases>;
  /** When other processes are worth their start, and what they run. */
  readonly poolRules?: PoolRules | undefined;
};

/** What a running command works with: its reporter, settings and use cases. */
export type Session = Pick<FileSession, 'poolRules' | 'startProcesses'> & {
  readonly terminal: Terminal;
  readonly reporter: Reporter;
  /** What the line says of the output and of the settings. */
  readonly asked: CommonRequest;
  readonly settings: ResolvedSettings;
  readonly config: LoadedConfig;
  readonly useCases: UseCases;
  /** Creates further use cases with their own archive and model, until the signal; the caller closes them. */
  readonly openUseCases: (signal: AbortSignal) => UseCases;
  /** Runs when the session ends, for whatever reason. */
  readonly atEnd: (cleanUp: () => void | Promise<void>) => void;
  /** With `-v`, prints why a file matches none of the formats. */
  readonly explain: (failure: LookupFailure) => void;
  /** Prints what is wrong with the command line and returns the exit code. */
  readonly refuse: (message: string) => ExitCode;
  /** Prints what failed, of which a text is the whole sentence, and returns the exit code. */
  readonly fail: (failure: LookupFailure | string) => ExitCode;
  /** Answers with a report: as JSON if the line asks for it, otherwise with these lines. */
  readonly answer: Answer;
  /** The same, but the lines are not needed with `-q`. */
  readonly answerUnlessQuiet: Answer;
};

type Answer = (report: object, render: () => readonly string[]) => void;

export type SessionRequest = CommonRequest & {
  readonly command: string;
  readonly format: string | null;
  /** Settings that the command depends on: if an untrusted file sets one of them, the command is refused. */
  readonly needs: readonly SettingsUse[];
  /** Settings that the command can do without: if an untrusted file sets one of them, that is only reported. */
  readonly wants?: readonly SettingsUse[];
  /** Stop when the reader of stdout is gone: for commands that only print. */
  readonly endsWithStdout?: boolean;
};

/** Runs `work` in a session. Wrong settings or formats are reported before anything is opened. */
export async function inSession(
  context: CliContext,
  request: SessionRequest,
  work: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { terminal } = context;
  const begun: { run: RunMark | null } = { run: null };
  const reporter = await createReporter(terminal, request.outputOptions, () => begun.run?.token ?? null);
  const refuse = (message: string): ExitCode => {
    reporter.error(renderUsageProblem({ message, command: request.command }));
    return EXIT_CODES.usage;
  };
  const read = await readSettings(terminal, request);
  if (!read.ok) {
    for (const problem of read.error) reporter.error(problem);
    return EXIT_CODES.usage;
  }
  reporter.report(read.value.remarks);
  const { settings, config } = read.value;
  const createUseCases = await context.loadUseCases();
  const { path: archivePath, index: indexing } = settings.archive;
  const { maxUnpackedBytes } = request.settings;
  const composition = { archivePath, indexing, maxUnpackedBytes, command: describeCommand(terminal.argv) };
  const readerGone = new AbortController();
  const openUseCases = (signal: AbortSignal): UseCases =>
    createUseCases({
      ...composition,
      progress: reporter.progress,
      notice: (sentence) => reporter.report([safeText(sentence)]),
      removeAtExit: terminal.removeAtExit,
      signal,
      stdout: (bytes) => {
        reporter.answerPiece(bytes);
        if (terminal.stdout.isClosed()) readerGone.abort();
      },
    });
  const orReader = AbortSignal.any([terminal.signal, readerGone.signal]);
  const useCases = openUseCases(request.endsWithStdout === true ? orReader : terminal.signal);
  begun.run = useCases.run;
  const { json, verbosity } = request.outputOptions;
  const explain = (failure: LookupFailure): void => {
    if (verbosity === 'verbose') reporter.report(renderNearFormats(failure), aboutFailure(failure));
  };
  const fail = (failure: LookupFailure | string): ExitCode => {
    if (typeof failure === 'string') reporter.error(failure);
    else if (failure.kind === 'interrupted') {
      // Without a signal, the reader of stdout is gone, which is no error.
      return terminal.signal.aborted ? interruptionCode(terminal.signal) : EXIT_CODES.done;
    } else {
      reporter.error(renderFailure(failure), aboutFailure(failure));
      explain(failure);
    }
    return EXIT_CODES.failed;
  };
  const answer: Answer = (report, render) => {
    if (json) reporter.answerJson(report);
    else reporter.answer(render());
  };
  const cleanUps: (() => void | Promise<void>)[] = [useCases.close, reporter.progress.clear];
  const atEnd: Session['atEnd'] = (cleanUp) => {
    cleanUps.push(cleanUp);
  };
  const poolRules = context.poolRules ?? DEFAULT_POOL_RULES;
  const startProcesses: Session['startProcesses'] = async (processes) => {
    const { createFilePool } = await import('./pool/pool.ts');
    const { clearLeftovers, run } = useCases;
    const common = { composition: { ...composition, run }, terminal, clearLeftovers, entry: poolRules.entry };
    const pool = createFilePool({ ...common, isAlone: processes === 1 });
    atEnd(pool.close);
    return pool.useCases;
  };
  const answerUnlessQuiet: Answer = (report, render) => answer(report, verbosity === 'quiet' ? () => [] : render);
  const telling = { reporter, explain, refuse, fail, answer, answerUnlessQuiet };
  const using = { settings, config, useCases, openUseCases, poolRules, startProcesses, atEnd };
  const { format } = request;
  const names = format === null ? [] : useCases.listFormats().map(({ name }) => name);
  try {
    if (format === null || names.includes(format))
      return await work({ terminal, asked: request, ...telling, ...using });
    const meant = `did you mean ${nearestName(format, names)}? ('compact --formats' lists them)`;
    return refuse(`there is no format '${format}': ${meant}`);
  } finally {
    await runAll(cleanUps);
  }
}

function aboutFailure(failure: LookupFailure): About {
  return 'file' in failure ? { file: failure.file } : failure.kind === 'file' ? { file: failure.failure.path } : {};
}

/** Runs all of them in order, even if some fail, and then throws the first error. */
async function runAll(cleanUps: readonly (() => void | Promise<void>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const cleanUp of cleanUps) {
    try {
      await cleanUp();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

async function readSettings({ host, program }: Terminal, { settings: request, needs, wants = [] }: SessionRequest) {
  const loaded = await loadConfig(host, request);
  if (!loaded.ok) return err(loaded.error.map(renderConfigProblem));
  const config = loaded.value;
  const given = { config, flags: request.flags, host };
  const missed = renderMissed(config, program, { keys: findMissed({ ...given, uses: needs }), isNeeded: true });
  if (missed.length > 0) return err(missed);
  const remarks = [
    ...renderIgnored(config),
    ...renderMissed(config, program, { keys: findMissed({ ...given, uses: wants }), isNeeded: false }),
  ];
  return ok({ settings: resolveSettings(given), config, remarks });
}

/** The file names of a whole folder would say nothing more. */
const [MAX_COMMAND_WORDS, MAX_COMMAND_CHARS] = [50, 500];

/** A command line as a run keeps it: its beginning, without passwords in URLs, what may be a key, and texts, which may quote a conversation. */
export function describeCommand(argv: readonly string[]): string {
  const shown = argv
    .slice(0, MAX_COMMAND_WORDS)
    .map((word, at) => (TEXT_FLAG.test(argv[at - 1] ?? '') ? '…' : hideSecrets(word)));
  const words = quoteForShell(shown);
  const isCut = argv.length > MAX_COMMAND_WORDS || words.length > MAX_COMMAND_CHARS;
  return `compact ${words.slice(0, MAX_COMMAND_CHARS)}${isCut ? '…' : ''}`.trim();
}

const TEXT_FLAG = /^--(?:drop-)?rule$/;
const URLS = /[a-z][a-z\d+.-]*:\/\/\S+/gi;
const NAMED_SECRETS =
  /([\w-]*(?:key|token|secret|passw(?:or)?d|credential|auth|\bsig)[\w-]*=)(?!\d+(?:[&\s]|$))[^&\s]+/gi;
/** Long words of letters and digits, but not of short parts, as names of models are. */
const KEY = /(?=[\w+-]*\d)(?=[\w+-]*[a-z])(?=[\w+-]*\w{13})[\w+-]{20,}/;
const KEYS_IN_URL = new RegExp(`(?<=[/=:])${KEY.source}(?![\\w.+-])`, 'gi');
const KEYS = new RegExp(`(?<![\\w./+-])${KEY.source}(?![\\w./+-])`, 'gi');
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

function hideSecrets(word: string): string {
  return word
    .replace(/^(--(?:drop-)?rule=).*/s, '$1…')
    .replace(URLS, (url) =>
      isArchiveUrl(url) ? hidePassword(url) : hideCredentials(url).replace(KEYS_IN_URL, HIDDEN_PASSWORD),
    )
    .replace(NAMED_SECRETS, `$1${HIDDEN_PASSWORD}`)
    .replace(KEYS, (found) => (UUID.test(found) ? found : HIDDEN_PASSWORD));
}
