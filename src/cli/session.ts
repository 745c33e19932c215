import { loadConfig } from '../config/load.ts';
import type { LoadedConfig } from '../config/load.ts';
import { nearestName } from '../config/nearest.ts';
import { resolveSettings } from '../config/resolve.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import { EXIT_CODES } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Manner, SettingsRequest } from './invocation.ts';
import { renderConfigProblem, renderUsageProblem } from './render/usage.ts';
import type { Terminal } from './terminal.ts';
import type { CreateUseCases, UseCases } from './use-cases.ts';
import { createVoice } from './voice.ts';
import type { Voice } from './voice.ts';

/** What a command is handed beside its invocation. */
export type Stage = { readonly terminal: Terminal; readonly loadUseCases: () => Promise<CreateUseCases> };

/** A command at work: its voice, its settings and its use cases. */
export type Session = {
  readonly terminal: Terminal;
  readonly voice: Voice;
  readonly settings: ResolvedSettings;
  readonly config: LoadedConfig;
  readonly useCases: UseCases;
  /** Further ones, with an archive and a model of their own, until the signal; who asks for them closes them. */
  readonly openUseCases: (signal: AbortSignal) => UseCases;
  /** Runs when the session is over, whatever its end. */
  readonly atEnd: (cleanUp: () => void) => void;
  /** Says what is wrong with the command line, and gives the exit code for it. */
  readonly refuse: (message: string) => ExitCode;
};

type Request = {
  readonly command: string;
  readonly manner: Manner;
  readonly settings: SettingsRequest;
  readonly format: string | null;
  /** Stop when nobody reads stdout any more: for commands that do nothing else. */
  readonly endsWithStdout?: boolean;
};

/** Runs `work` in a session; a wrong configuration or format is told before anything is opened. */
export async function inSession(
  stage: Stage,
  request: Request,
  work: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { terminal } = stage;
  const voice = await createVoice(terminal, request.manner);
  const read = await readSettings(terminal, request.settings);
  if (!read.ok) {
    for (const problem of read.error) voice.error(problem);
    return EXIT_CODES.usage;
  }
  const { settings, config } = read.value;
  const createUseCases = await stage.loadUseCases();
  const readerGone = new AbortController();
  const openUseCases = (signal: AbortSignal): UseCases =>
    createUseCases({
      archivePath: settings.archive.path,
      progress: voice.progress,
      removeAtExit: terminal.removeAtExit,
      signal,
      stdout: (bytes) => {
        voice.answerPiece(bytes);
        if (terminal.stdout.isClosed()) readerGone.abort();
      },
    });
  const useCases = openUseCases(
    request.endsWithStdout === true ? AbortSignal.any([terminal.signal, readerGone.signal]) : terminal.signal,
  );
  const refuse = (message: string): ExitCode => {
    voice.error(renderUsageProblem({ message, command: request.command }));
    return EXIT_CODES.usage;
  };
  const cleanUps: (() => void)[] = [useCases.close, voice.progress.clear];
  const atEnd = (cleanUp: () => void): void => {
    cleanUps.push(cleanUp);
  };
  try {
    const unknown = findUnknownFormat(request.format, useCases);
    if (unknown !== null) return refuse(unknown);
    return await work({ terminal, voice, settings, config, useCases, openUseCases, atEnd, refuse });
  } finally {
    for (const cleanUp of cleanUps) cleanUp();
  }
}

async function readSettings(
  terminal: Terminal,
  request: SettingsRequest,
): Promise<Result<Pick<Session, 'settings' | 'config'>, readonly string[]>> {
  const { surroundings } = terminal;
  const config = await loadConfig(surroundings, request.configFlag);
  if (!config.ok) return err(config.error.map(renderConfigProblem));
  const settings = resolveSettings({ config: config.value, flags: request.flags, surroundings });
  return ok({ settings, config: config.value });
}

function findUnknownFormat(format: string | null, useCases: UseCases): string | null {
  if (format === null) return null;
  const names = useCases.listFormats().map(({ name }) => name);
  if (names.includes(format)) return null;
  return `there is no format '${format}': did you mean ${nearestName(format, names)}? ('compact --formats' lists them)`;
}
