import { err, ok, type Result } from '../../core/result.ts';
import type {
  Client,
  ClientFiles,
  ClientName,
  EditProblem,
  FileEdit,
  InstalledFile,
  InstallRecords,
  Presence,
} from '../../ports/clients.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Failure } from '../contract/failure.ts';

export type InstallAction = 'install' | 'undo' | 'status';

export type InstallRequest = {
  readonly client: Client;
  readonly action: InstallAction;
  readonly isDryRun: boolean;
};

export type InstallReport = {
  readonly schema: 'compact/install@1';
  readonly client: ClientName;
  readonly title: string;
  /** Before this run. `changed`: something of ours is there, but not what would be written now. */
  readonly state: Presence['state'] | 'not-found';
  readonly result: 'installed' | 'undone' | 'unchanged' | 'planned';
  readonly files: readonly InstallReportFile[];
  /** Names in the client's settings that the user gave to something else, and that are left alone. */
  readonly taken: readonly string[];
  /** What does not work yet although it is installed, as sentences. */
  readonly notices: readonly string[];
  /** What the user has to do before it works, as a sentence; null: nothing was installed. */
  readonly nextStep: string | null;
};

type InstallReportFile = {
  readonly path: string;
  readonly change: 'created' | 'edited' | 'removed' | 'none';
};

/** The texts of a file before and after; null: there is no file. */
export type FileChange = { readonly path: string; readonly before: string | null; readonly after: string | null };

export type InstallDeps = {
  readonly files: ClientFiles;
  readonly records: InstallRecords;
  readonly runtime: Pick<Runtime, 'sha256'>;
};

/** The report, and the changes themselves for a diff. */
export type InstallOutcome = { readonly report: InstallReport; readonly changes: readonly FileChange[] };

/** Installs this program in a client, takes that back, or says how it stands. A failure changes no file that is not named in the report. */
export async function installClient(
  deps: InstallDeps,
  request: InstallRequest,
): Promise<Result<InstallOutcome, Failure>> {
  const { client, action, isDryRun } = request;
  const { needs } = client;
  const records = deps.records.load(client.name);
  const isFound = client.folders.some(deps.files.exists) || deps.files.hasProgram(client.program);
  const plans: FilePlan[] = [];
  for (const edit of client.edits) {
    const planned = planFile(deps, {
      edit,
      action: isFound || action === 'undo' ? action : 'status',
      record: records.find(({ path }) => path === edit.path),
    });
    if (!planned.ok) return planned;
    plans.push(planned.value);
  }
  const changed = plans.filter(({ before, after }) => before !== after);
  // A file in which the user's own settings stand in the place of ours says nothing.
  const telling = plans.filter(({ presence: { state, taken } }) => state !== 'absent' || taken.length === 0);
  const states = new Set(telling.map(({ presence }) => presence.state));
  const [only = 'absent'] = states;
  const isPresent = action === 'install' ? isFound : action === 'status' && only !== 'absent';
  const report: InstallReport = {
    schema: 'compact/install@1',
    client: client.name,
    title: client.title,
    state: states.size > 1 ? 'changed' : only === 'absent' && !isFound ? 'not-found' : only,
    result: changed.length === 0 ? 'unchanged' : isDryRun ? 'planned' : action === 'undo' ? 'undone' : 'installed',
    files: plans.map(({ edit, before, after }) => ({ path: edit.path, change: describeChange(before, after) })),
    taken: plans.flatMap(({ presence }) => presence.taken),
    notices: needs !== undefined && isPresent && !deps.files.exists(needs.path) ? [needs.notice] : [],
    nextStep: action === 'install' && changed.length > 0 ? client.nextStep : null,
  };
  if (!isDryRun && changed.length > 0) {
    const written = await writeAll(deps, request, { plans: changed, records });
    if (!written.ok) return written;
  }
  return ok({ report, changes: changed.map(({ edit, before, after }) => ({ path: edit.path, before, after })) });
}

type FilePlan = {
  readonly edit: FileEdit;
  readonly presence: Presence;
  /** The text now, without our part as far as that is known, and after the run; null: no file. */
  readonly before: string | null;
  readonly original: string | null;
  readonly after: string | null;
};

type PlanRequest = {
  readonly edit: FileEdit;
  readonly action: InstallAction;
  readonly record: InstalledFile | undefined;
};

function planFile(deps: InstallDeps, { edit, action, record }: PlanRequest): Result<FilePlan, Failure> {
  const { path } = edit;
  const refuse = ({ line, column, problem }: EditProblem): Result<never, Failure> =>
    err({ kind: 'bad-line', file: path, line, column, problem, canCarry: false });
  const read = deps.files.read(path);
  if (!read.ok) {
    const { error } = read;
    return error === 'not-text'
      ? refuse({ line: 1, column: 1, problem: 'it is not UTF-8 text' })
      : err({ kind: 'file', failure: error });
  }
  const before = read.value;
  const inspected = edit.inspect(before);
  if (!inspected.ok) return refuse(inspected.error);
  const presence = inspected.value;
  const plan = { edit, presence, before, original: before, after: before };
  const isDone = presence.state === (action === 'install' ? 'installed' : 'absent');
  if (action === 'status' || isDone) return ok(plan);
  const original = takeBack(deps, { edit, before, record });
  if (action === 'undo') return ok({ ...plan, original, after: original });
  const added = edit.add(original);
  if (!added.ok) return refuse(added.error);
  return ok({ ...plan, original, after: added.value === '' ? original : added.value });
}

/** The text without our part: exactly the one from before if nobody changed it since. */
function takeBack(
  { runtime }: InstallDeps,
  { edit, before, record }: Omit<PlanRequest, 'action'> & Pick<FilePlan, 'before'>,
): string | null {
  if (before === null) return null;
  if (record !== undefined && runtime.sha256(before) === record.sha256.after) {
    const { at, inserted, removed } = record.splice;
    const text = before.slice(0, at) + removed + before.slice(at + inserted);
    if (runtime.sha256(text) === record.sha256.before) return record.existed ? text : null;
  }
  const { text, isEmpty } = edit.remove(before);
  return isEmpty && text !== before && record?.existed !== true ? null : text;
}

/** The record is written first: a run that dies afterwards can still be taken back. */
async function writeAll(
  { files, records: store, runtime }: InstallDeps,
  { client, action }: InstallRequest,
  { plans, records }: { plans: readonly FilePlan[]; records: readonly InstalledFile[] },
): Promise<Result<void, Failure>> {
  const untouched = records.filter(({ path }) => plans.every(({ edit }) => edit.path !== path));
  const recordAll = (files: readonly InstalledFile[]) => store.save(client.name, [...untouched, ...files]);
  if (action === 'install') {
    const saved = await recordAll(plans.map((plan) => toRecord(plan, runtime)));
    if (!saved.ok) return err({ kind: 'file', failure: saved.error });
  }
  for (const { edit, before, after } of plans) {
    const written =
      after === null
        ? files.remove(edit.path, edit.managedFolders)
        : await files.replace(edit.path, { expected: before, text: after });
    if (written.ok) continue;
    if (written.error === 'file-changed') return err({ kind: 'source-changed', file: edit.path });
    return err({ kind: 'file', failure: written.error });
  }
  if (action === 'install') return ok(undefined);
  const saved = await recordAll([]);
  return saved.ok ? saved : err({ kind: 'file', failure: saved.error });
}

function toRecord({ edit, original, after }: FilePlan, { sha256 }: InstallDeps['runtime']): InstalledFile {
  const from = original ?? '';
  const to = after ?? '';
  const most = Math.min(from.length, to.length);
  let at = 0;
  while (at < most && from[at] === to[at]) at += 1;
  let tail = 0;
  while (tail < most - at && from.at(-1 - tail) === to.at(-1 - tail)) tail += 1;
  return {
    path: edit.path,
    existed: original !== null,
    sha256: { before: sha256(from), after: sha256(to) },
    splice: { at, inserted: to.length - at - tail, removed: from.slice(at, from.length - tail) },
  };
}

function describeChange(before: string | null, after: string | null): InstallReportFile['change'] {
  if (before === after) return 'none';
  return before === null ? 'created' : after === null ? 'removed' : 'edited';
}
