import { basename, dirname, resolve } from 'node:path';
import type { ExitCode } from './exit-codes.ts';
import { gatherInputs } from './gather.ts';
import { dropRepeated } from './inputs.ts';
import { findKnownFiles } from './known-places.ts';
import { renderFailure } from './render/failure.ts';
import type { Session } from './session.ts';

/** A file that may be a transcript. */
export type ScannedFile = {
  readonly path: string;
  readonly name: string;
  readonly isNamed: boolean;
  /** By the folder that it stands in: where the records do not tell, that is better than nothing. */
  readonly project: string | null;
};

export type Scanned = {
  readonly files: readonly ScannedFile[];
  /** Where they were looked for, for people. */
  readonly looked: readonly string[];
  /** Of what could not be looked into; it has been told. */
  readonly failedCount: number;
};

/** With operands what they name and nothing else; without, the places of the formats. A number instead: the command is over. */
export async function findScanned(
  session: Session,
  { operands, format }: { readonly operands: readonly string[]; readonly format: string | null },
): Promise<Scanned | ExitCode> {
  if (operands.length > 0) {
    const gathered = await gatherInputs(session, operands, { skipsCompacted: true });
    if (typeof gathered === 'number') return gathered;
    const files = gathered.inputs.map(({ path, name, isNamed }) => ({ path, name, isNamed, project: folderOf(path) }));
    return { files, looked: operands, failedCount: gathered.failures.length };
  }
  const { useCases, terminal, voice } = session;
  const places = useCases
    .listFormats()
    .flatMap((one) => (format === null || one.name === format ? (one.places ?? []) : []));
  const known = await findKnownFiles(places, terminal.surroundings);
  for (const failure of known.failures) voice.error(renderFailure({ kind: 'file', failure }));
  const files = dropRepeated(known.files).map(({ path, project }) => ({ path, name: path, isNamed: false, project }));
  return { files, looked: known.looked, failedCount: known.failures.length };
}

function folderOf(path: string): string {
  return basename(dirname(resolve(path)));
}
