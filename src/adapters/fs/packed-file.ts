import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure, Packing, PendingFile } from '../../ports/files.ts';
import { toFileFailure } from './failure.ts';
import { createPacker } from './packer.ts';

type PackedPlace = { readonly path: string; readonly packing: Exclude<Packing, 'none'> };

/** A new file that gets what is written to it packed. Once `catchUp` has come to its end nothing more can be written. */
export function createPackedFile(file: PendingFile, { path, packing }: PackedPlace): PendingFile {
  const state: { failure: FileFailure | null } = { failure: null };
  const packer = createPacker(packing, (packed) => {
    const written = file.write(packed);
    if (written.ok) return;
    state.failure = written.error;
    throw new Error('what was packed could not be written');
  });
  const flush = async (until: 'here' | 'end'): Promise<Result<void, FileFailure>> => {
    try {
      return ok(await packer.flush(until));
    } catch (error) {
      return err(state.failure ?? toFileFailure(error, { path, what: 'write' }));
    }
  };
  return {
    ...file,
    write: (bytes) => ok(packer.add(bytes)),
    catchUp: (until) => (until === 'end' || packer.hasFullPiece() ? flush(until) : null),
    // What comes to a packed file is packed as well: sizes are those on disk.
    keepOld: (stamp) => file.keepOld(stamp, stamp.sizeBytes),
    close: () => {
      packer.close();
      file.close();
    },
  };
}
