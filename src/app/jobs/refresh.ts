import type { RemoteBatch } from '../../ports/batch.ts';
import { isInterrupted } from '../contract/deps.ts';
import { findElsewhere } from './advance.ts';
import { type BatchDeps, changeOf, findRecords, listRecords, type RecordOf, UNCOLLECTED } from './records.ts';
import { addMs, LISTED_MS, requestsOf, runningAs, withdraw } from './send.ts';

/** Providers keep results for about this long, unless they say when they delete them. */
const RESULTS_MS = 30 * 86_400_000;
/** Warn this long before results are deleted. */
const EXPIRY_WARNING_MS = 3 * 86_400_000;
/** How long the system, or a proxy, may go on sending for a program that was killed, until it is listed. */
const DEAD_SENDER_MS = 180_000 + LISTED_MS;

/** The batches that were not collected yet, as their provider sees them now. */
export async function refreshBatches(deps: BatchDeps): Promise<readonly RecordOf<'batch'>[]> {
  const batches: RecordOf<'batch'>[] = [];
  for (const known of await listRecords(deps.archive, 'batch', UNCOLLECTED)) {
    if (await isInterrupted(deps)) break;
    const elsewhere = findElsewhere(known.value, deps);
    if (elsewhere !== null) {
      deps.onWarning(`batch ${nameOf(known)} was sent to ${elsewhere}`);
      continue;
    }
    const batch = await deps.ask(async () => {
      const settled = known.state === 'sending' ? await settleSending(deps, known) : known;
      return settled?.state === 'running' ? look(deps, settled) : settled;
    });
    if (batch === null) continue;
    const warning = expiryWarning(batch, deps.runtime.now());
    if (warning !== null) deps.onWarning(warning);
    batches.push(batch);
  }
  return batches;
}

export function nameOf({ key, value }: RecordOf<'batch'>): string {
  return value.remoteId ?? `${key} (sent ${value.sentAt})`;
}

/** Null: it is not about to lose its results. */
export function expiryWarning(batch: RecordOf<'batch'>, now: Date): string | null {
  const { resultsExpireAt } = batch.value;
  if (resultsExpireAt === null || batch.state !== 'ended') return null;
  const leftMs = Date.parse(resultsExpireAt) - now.getTime();
  if (leftMs > EXPIRY_WARNING_MS) return null;
  const when = leftMs > 0 ? `are deleted at ${resultsExpireAt}` : `were to be deleted at ${resultsExpireAt}`;
  return `the results of batch ${nameOf(batch)} ${when}. Run 'compact batch collect'.`;
}

/** Finds out whether a batch was created whose id never arrived. Null: it was not, or that is not known yet. */
async function settleSending(deps: BatchDeps, batch: RecordOf<'batch'>): Promise<RecordOf<'batch'> | null> {
  const { archive, service, runtime } = deps;
  const { sentAt, requests, keyHash } = batch.value;
  const known = new Set((await listRecords(archive, 'batch')).flatMap(({ value }) => value.remoteId ?? []));
  const isOurs = async (customId: string): Promise<boolean> =>
    (await findRecords(archive, 'request', [customId])).some(({ value }) => value.batch === batch.key);
  // What the list has is certain at any time, and what it lacks only later.
  const found = await service.find({ mark: batch.key, sentAt: new Date(sentAt), requests }, { isOurs, known });
  if (found.kind === 'found') return update(deps, batch, found.batch);
  if (keyHash !== service.keyHash) {
    deps.onWarning(
      `batch ${nameOf(batch)} was sent with another key. Run this with that key to find out whether it arrived.`,
    );
    return null;
  }
  const waiting = await settleSooner(deps, batch);
  if (waiting === null) return null;
  if (runtime.now().getTime() < Date.parse(waiting.value.settlesAt))
    deps.onWarning(describeUnclear(waiting, runtime.now()));
  else if (found.kind === 'absent') await withdraw(deps, waiting, 'it never arrived');
  else
    deps.onWarning(
      `batch ${nameOf(batch)} may be ${found.ids.join(' or ')}. Run 'compact batch collect' when they have ended.`,
    );
  return null;
}

/** Waits less for a sender that is dead. Null: another run has changed the batch. */
async function settleSooner(deps: BatchDeps, batch: RecordOf<'batch'>): Promise<RecordOf<'batch'> | null> {
  const { lockedPath, settlesAt } = batch.value;
  const soonest = addMs(deps.runtime.now(), DEAD_SENDER_MS).toISOString();
  if (lockedPath === null || settlesAt <= soonest) return batch;
  const locked = await deps.files.lock(lockedPath);
  if (!locked.ok) return batch;
  const sooner = { ...batch, value: { ...batch.value, settlesAt: soonest, lockedPath: null } };
  const isChanged = await deps.archive.providerBatches.change([changeOf('batch', batch, sooner)]);
  locked.value.release();
  return isChanged ? sooner : null;
}

async function update(
  { archive }: BatchDeps,
  batch: RecordOf<'batch'>,
  remote: RemoteBatch,
): Promise<RecordOf<'batch'> | null> {
  const next = { key: batch.key, ...runningAs(batch.value, remote) };
  const value = remote.problem === null ? next.value : { ...next.value, note: remote.problem };
  const changed = { ...next, value };
  return (await archive.providerBatches.change([changeOf('batch', batch, changed)])) ? changed : null;
}

async function look(deps: BatchDeps, batch: RecordOf<'batch'>): Promise<RecordOf<'batch'> | null> {
  const remote = await deps.service.look(batch.value.remoteId ?? '');
  if (remote !== null) return update(deps, batch, remote);
  await loseResults(deps, batch);
  return null;
}

/** What was paid can no longer be fetched. People decide whether to pay again. */
export async function loseResults(deps: BatchDeps, batch: RecordOf<'batch'>): Promise<void> {
  const { resultsExpireAt, sentAt, keyHash } = batch.value;
  const deletedMs = resultsExpireAt === null ? Date.parse(sentAt) + RESULTS_MS : Date.parse(resultsExpireAt);
  if (deps.runtime.now().getTime() < deletedMs) {
    const { address } = deps.service;
    const unknown = `${address} does not know batch ${nameOf(batch)}`;
    return deps.onProblem(
      keyHash === deps.service.keyHash
        ? `${unknown}. Check the workspace of the key: the results should be there until ${new Date(deletedMs).toISOString()}.`
        : `${unknown}, which was sent with another key. Run this with that key.`,
    );
  }
  const note = `the provider has deleted the results of batch ${nameOf(batch)}: submitting the file again pays again`;
  const error = { code: 'api_error', problem: note } as const;
  const open = await requestsOf(deps.archive, batch);
  const done = await deps.archive.providerBatches.change([
    changeOf('batch', batch, { ...batch, state: 'gone', value: { ...batch.value, note } }),
    ...open.map((one) => changeOf('request', one, { ...one, state: 'failed', value: { ...one.value, error } })),
  ]);
  if (done) deps.onProblem(note);
}

/** What is not known of a batch, and when it will be. */
function describeUnclear({ value: { requests, sentAt, settlesAt } }: RecordOf<'batch'>, now: Date): string {
  const minutes = Math.max(1, Math.ceil((Date.parse(settlesAt) - now.getTime()) / 60_000));
  const [what, they] = requests === 1 ? ['1 request', 'it'] : [`${requests} requests`, 'they'];
  return (
    `The provider has not confirmed ${what} (sent at ${sentAt}), and sending again now could cost twice. ` +
    `Run 'compact batch collect' in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}: then the provider's list of batches shows whether ${they} arrived.`
  );
}

export async function warnUnclear({ archive, onWarning, runtime }: BatchDeps): Promise<void> {
  for (const batch of await listRecords(archive, 'batch', ['sending']))
    onWarning(describeUnclear(batch, runtime.now()));
}
