import { basename, dirname, resolve } from 'node:path';
import { sessionIdOf } from '../core/paths.ts';
import type { ExitCode } from './exit-codes.ts';
import { gatherInputs } from './gather.ts';
import { dropRepeated } from './inputs.ts';
import { findKnownFiles, placesOf } from './known-sessions.ts';
import { renderFailure } from './render/failure.ts';
import type { Session } from './session.ts';

/** A file that may be a transcript. */
export type ScannedFile = {
  readonly path: string;
  readonly name: string;
  readonly isNamed: boolean;
  readonly refusesLinks: boolean;
  /** The name of the folder that holds the file: the fallback if the records name no project. */
  readonly project: string | null;
  /** The session's id according to the path; null: the path has none. */
  readonly sessionId: string | null;
};

export type Scanned = {
  readonly files: readonly ScannedFile[];
  /** The places that were searched, for people. */
  readonly looked: readonly string[];
  /** The number of places that could not be read; each was reported. */
  readonly failedCount: number;
};

/** Searches the operands, or without any the places of the formats. A number is an exit code: the command is over. */
export async function findScanned(
  session: Session,
  { operands, format }: { readonly operands: readonly string[]; readonly format: string | null },
): Promise<Scanned | ExitCode> {
  if (operands.length > 0) {
    const gathered = await gatherInputs(session, operands, { skipsCompacted: true });
    if (typeof gathered === 'number') return gathered;
    const files = gathered.inputs.map(({ path, name, isNamed, refusesLinks }) => ({
      path,
      name,
      isNamed,
      refusesLinks,
      project: folderOf(path),
      sessionId: sessionIdOf(resolve(path)),
    }));
    return { files, looked: operands, failedCount: gathered.failures.length };
  }
  const { useCases, terminal, reporter } = session;
  const formats = useCases.listFormats().filter(({ name }) => format === null || name === format);
  const known = await findKnownFiles(placesOf(formats), terminal.host);
  for (const failure of known.failures) reporter.error(renderFailure({ kind: 'file', failure }));
  const files = dropRepeated(known.files).map(({ path, project }) => ({
    path,
    name: path,
    isNamed: false,
    refusesLinks: true,
    project,
    sessionId: sessionIdOf(path),
  }));
  return { files, looked: known.looked, failedCount: known.failures.length };
}

function folderOf(path: string): string {
  return basename(dirname(resolve(path)));
}
