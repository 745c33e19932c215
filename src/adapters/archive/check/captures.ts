import { createHash } from 'node:crypto';
import { isErased } from '../failure.ts';
import { readVersion } from '../read/captured.ts';
import { readHash, readInteger, readText, type Row } from '../rows.ts';
import { type CheckSource, type Finding, finding, nowhere, type Place, type Totals, tryRead } from './finding.ts';

const LIST_VERSIONS = 'SELECT id FROM captured_versions ORDER BY id';
const GET_VERSION = `
SELECT f.path, v.version FROM captured_versions AS v JOIN captured_files AS f ON f.id = v.file_id WHERE v.id = :id`;
const LIST_STATES = 'SELECT size_bytes, sha256 FROM captured_states WHERE version_id = :id ORDER BY size_bytes, id';
const COUNT_STORED = `
SELECT (SELECT count(*) FROM captured_files) AS captured, count(*) AS blocks, CAST(coalesce(sum(line_count), 0) AS bigint) AS lines,
  CAST(coalesce(sum(raw_size_bytes), 0) AS bigint) AS original, CAST(coalesce(sum(length(data)), 0) AS bigint) AS compressed FROM captured_blocks`;

/** Reads every version of every captured file and checks the hash of each of its states. Yields null between versions. */
export async function* checkCaptures(
  { query }: CheckSource,
  path: string,
  totals: Totals,
): AsyncGenerator<Finding | null> {
  const placeOf = async (id: number): Promise<Place> => {
    const { value } = await tryRead(() => query(GET_VERSION, { id }));
    const [row] = value ?? [];
    if (row === undefined) return { ...nowhere(`captured version ${id}`), files: [] };
    const file = readText(row, 'path');
    const name = `captured file ${JSON.stringify(file)}, version ${readInteger(row, 'version')}`;
    return { ...nowhere(name), files: [file] };
  };
  const versions = await tryRead(() => query(LIST_VERSIONS));
  if (versions.damage !== null) {
    yield finding('unreadable', { ...nowhere('the list of captured files'), files: [] }, versions.damage);
    return;
  }
  for (const version of versions.value) {
    yield null;
    const id = readInteger(version, 'id');
    const { value, damage } = await tryRead(async () =>
      findProblem(await query(LIST_STATES, { id }), readVersion(query, path, id)),
    );
    const problem = value ?? damage;
    if (problem !== null) yield finding('wrong-hash', await placeOf(id), problem);
  }
  const stored = await tryRead(() => query(COUNT_STORED));
  for (const row of stored.value ?? [])
    for (const name of ['captured', 'blocks', 'lines', 'original', 'compressed'] as const)
      totals[name] += readInteger(row, name);
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
