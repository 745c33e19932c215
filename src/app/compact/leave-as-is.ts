import { ok, type Result } from '../../core/result.ts';
import type { FileLock } from '../../ports/files.ts';
import type { CompactDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { CompactReport, SkipReason } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { readPieces } from '../read/file-pieces.ts';
import type { Prepared } from '../read/prepare.ts';
import { deliver, type Delivery } from '../write/deliver.ts';
import { checkReplaceable } from './replaceable.ts';
import { skippedReport } from './report.ts';

/** The file as it stands, where its copy is to be packed as it is; else its content, which is packed as the copy's name says. */
function copyOf(
  { files }: CompactDeps,
  { output }: CompactFileRequest,
  { source }: Prepared,
): Pick<Delivery, 'pieces' | 'packing'> {
  const isAlike = output.kind === 'file' && files.packingOf(output.path) === source.packing;
  if (isAlike) return { pieces: source.onDisk(), packing: 'none' };
  return { pieces: readPieces(source, { from: 0, to: source.sizeBytes }) };
}

/** Where the input's bytes go when there is nothing to do; null: to no file. */
export function explicitPath({ output }: CompactFileRequest): string | null {
  return output.kind === 'file' ? output.path : null;
}

/** Nothing to do: the default output is not made, an explicit one gets the input's bytes. */
export async function leaveAsIs(
  deps: CompactDeps,
  input: {
    readonly request: CompactFileRequest;
    readonly transcript: Prepared;
    readonly reason: SkipReason;
    readonly notes: readonly string[];
    readonly lock: FileLock | null;
  },
): Promise<Result<CompactReport, Failure>> {
  const { request, transcript, reason, notes, lock } = input;
  const { output } = request;
  const isExplicit = output.kind === 'file' || output.kind === 'stdout';
  if (isExplicit) {
    const replaceable = await checkReplaceable(deps, { request, transcript, archive: null });
    if (!replaceable.ok) return replaceable;
    const copy = { request, transcript, lock, replaceable: replaceable.value };
    const delivered = await deliver(deps, { ...copy, ...copyOf(deps, request, transcript) });
    if (!delivered.ok) return delivered;
  }
  const written = output.kind === 'file' ? output.path : output.kind === 'stdout' ? '-' : null;
  return ok(skippedReport(transcript, { file: request.input.name, reason, notes, output: written }));
}
