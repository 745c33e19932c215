import { createHash } from 'node:crypto';
import type { ArchiveDamage } from '../../../ports/archive-check.ts';
import { describeDamage, isErased } from '../failure.ts';
import { readVersion } from '../read/captured.ts';
import { readHash, readInteger, readText, type Row } from '../rows.ts';
import { addCaptured, type CheckSource, type Totals } from './finding.ts';

const LIST_VERSIONS = 'SELECT id FROM captured_versions ORDER BY id';
const GET_VERSION = `
SELECT f.path, v.version FROM captured_versions AS v JOIN captured_files AS f ON f.id = v.file_id WHERE v.id = :id`;
const LIST_STATES = 'SELECT size_bytes, sha256 FROM captured_states WHERE version_id = :id ORDER BY size_bytes, id';
const COUNT_STORED = `
SELECT (SELECT count(*) FROM captured_files) AS files, count(*) AS blocks, CAST(coalesce(sum(line_count), 0) AS bigint) AS lines,
  CAST(coalesce(sum(raw_size_bytes), 0) AS bigint) AS original, CAST(coalesce(sum(length(data)), 0) AS bigint) AS compressed FROM captured_blocks`;

/** Reads every version of every captured file and checks the hash of each of its states. Yields null between versions. */
export async function* checkCaptures(
  source: CheckSource,
  { totals, path }: { readonly totals: Totals; readonly path: string },
): AsyncGenerator<ArchiveDamage | null> {
  const { query } = source;
  const nameOf = async (id: number): Promise<{ readonly name: string; readonly files: readonly string[] }> => {
    const found = await tryRead(() => query(GET_VERSION, { id }));
    const row = typeof found === 'string' ? undefined : found[0];
    if (row === undefined) return { name: `captured version ${id}`, files: [] };
    const file = readText(row, 'path');
    return { name: `captured file ${JSON.stringify(file)}, version ${readInteger(row, 'version')}`, files: [file] };
  };

  const versions = await tryRead(() => query(LIST_VERSIONS));
  if (typeof versions === 'string') {
    yield { kind: 'unreadable', message: `the list of captured files: ${versions}`, files: [] };
    return;
  }
  for (const version of versions) {
    yield null;
    const id = readInteger(version, 'id');
    const problem = await tryRead(async () =>
      findProblem(await query(LIST_STATES, { id }), readVersion(query, path, id)),
    );
    if (problem === null) continue;
    const { name, files } = await nameOf(id);
    yield { kind: 'wrong-hash', message: `${name}: ${problem}`, files };
  }
  const stored = await tryRead(() => query(COUNT_STORED));
  if (typeof stored === 'string' || stored[0] === undefined) return;
  addCaptured(totals, stored[0]);
}

/** What differs from the hashes of the states, which are beginnings of one version. Null: nothing, or lines were erased and nothing can be compared. */
async function findProblem(states: readonly Row[], pieces: AsyncGenerator<Uint8Array>): Promise<string | null> {
  const digest = createHash('sha256');
  let sizeBytes = 0;
  let rest: Uint8Array = new Uint8Array();
  try {
    for (const state of states) {
      const wanted = readInteger(state, 'size_bytes');
      for (;;) {
        const part = rest.subarray(0, wanted - sizeBytes);
        digest.update(part);
        sizeBytes += part.length;
        rest = rest.subarray(part.length);
        if (sizeBytes === wanted) break;
        const next = await pieces.next();
        if (next.done === true) return `${wanted - sizeBytes} of its ${wanted} bytes are missing`;
        rest = next.value;
      }
      if (digest.copy().digest('hex') !== readHash(state, 'sha256'))
        return `its first ${wanted} bytes differ from their hash`;
    }
    return rest.length > 0 || (await pieces.next()).done !== true ? 'it has more bytes than were captured' : null;
  } catch (error) {
    if (isErased(error)) return null;
    throw error;
  }
}

/** What is damaged, as text, if it cannot be read. */
async function tryRead<T>(read: () => Promise<T>): Promise<T | string> {
  try {
    return await read();
  } catch (error) {
    const damage = describeDamage(error);
    if (damage === null) throw error;
    return damage;
  }
}
