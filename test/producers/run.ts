import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkContinued, checkHandedOver, clientOf, HANDED_OVER, versionOf } from './continued.ts';
import { install, producersFolder } from './install.ts';
import { checkInstalled, INSTALLATIONS } from './installed.ts';
import { type Fields, fieldsOf, listOf, parseFields, textOf } from './json.ts';
import { type Producer, PRODUCERS } from './producers.ts';
import { type Resumed, withFolder } from './resumed.ts';

// Compacts transcripts and has the programs that wrote them read the results back, offline:
//   npm run dev -- test:producers                               our fixtures
//   npm run dev -- test:producers --only pi,gemini           of some formats
//   npm run dev -- test:producers --versions newest          with the newest programs instead of the pinned ones
//   npm run dev -- test:producers --format pi a.jsonl b.jsonl    other files
// Then `compact install` is tried with the same programs: they must run our hooks in a compaction of their own.
// `compact resume` and `compact handoff --to` start them on a terminal, where they must send what is left of a session, or its hand-over.
// A transcript is compacted twice, keeping four messages and then one; both results are looked at.

const ROOT = join(import.meta.dirname, '../..');
const KEEP_RECENT = [4, 1];

type Compacted = { readonly result: string; readonly before: number; readonly after: number };

function compact(file: string, keepRecent: number, archive: string): Compacted {
  const args = ['-i', '--json', '--keep-invalid', '--keep-recent', String(keepRecent), '--archive', archive, file];
  const run = spawnSync(process.execPath, [join(ROOT, 'bin/compact.js'), ...args], { encoding: 'utf8' });
  const report: Fields = parseFields(run.stdout.trim()) ?? {};
  const tokens = listOf(report['conversations']).map((one) => fieldsOf(one['tokens']));
  const sum = (key: string): number => tokens.reduce((total, one) => total + Number(one[key] ?? 0), 0);
  const reason = textOf(report['reason']) ?? textOf(fieldsOf(report['error'])['kind']);
  const result = [textOf(report['result']), reason].filter((text) => text !== undefined).join(': ');
  return { result: result === '' ? run.stderr.trim() : result, before: sum('before'), after: sum('after') };
}

/** What is not as it must be; '': nothing. What the producer does with the original as well is not held against the result. */
async function faultsOf(seen: Resumed, original: () => Promise<Resumed>): Promise<string> {
  const known = seen.orphans > 0 || seen.rewritten ? await original() : seen;
  return [
    ...(seen.resumed ? [] : ['not resumed']),
    ...(seen.summaryFound ? [] : ['no summary']),
    ...(seen.orphans > known.orphans ? [`${seen.orphans} orphans, ${known.orphans} in the original`] : []),
    ...(seen.rewritten && !known.rewritten ? ['rewritten'] : []),
    ...(seen.detail === undefined ? [] : [seen.detail]),
  ].join('; ');
}

async function tryFile(producer: Producer, path: string, into: string): Promise<number> {
  return withFolder('compact-producers-', async (folder) => {
    const [file, original] = [join(folder, 'session.jsonl'), join(folder, 'original.jsonl')];
    for (const copy of [file, original]) copyFileSync(path, copy);
    let failures = 0;
    for (const keepRecent of KEEP_RECENT) {
      const { result, before, after } = compact(file, keepRecent, join(folder, 'archive.db'));
      const name = `${producer.format.padEnd(12)} ${basename(path).padEnd(44)} ${String(keepRecent).padStart(2)}`;
      if (!result.startsWith('compacted')) {
        const isFault = !result.startsWith('skipped: ') && result !== 'failed: no-messages';
        if (isFault) failures += 1;
        console.log(`${name}  ${isFault ? 'FAILED: ' : ''}${result.split('\n')[0]}`);
        continue;
      }
      const seen = await producer.check(file, into, producer);
      const faults = await faultsOf(seen, async () => producer.check(original, into, producer));
      if (faults !== '') failures += 1;
      const what = faults === '' ? `resumed by ${seen.version}, ${seen.messages} messages sent` : `FAILED: ${faults}`;
      console.log(`${name}  ${before} → ${after} tokens, ${what}`);
    }
    return failures;
  });
}

function fixturesOf({ format, notResumed = [] }: Producer): readonly string[] {
  const folder = join(ROOT, 'fixtures/transcripts', format);
  return readdirSync(folder).flatMap((name) => (notResumed.includes(name) ? [] : [join(folder, name)]));
}

/** Says how a check went; gives the number of failures. */
function tell({ format }: Producer, what: string, fault: string, fine: string): number {
  console.log(`${format.padEnd(12)} ${what}: ${fault === '' ? fine : `FAILED: ${fault}`}`);
  return fault === '' ? 0 : 1;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      format: { type: 'string' },
      versions: { type: 'string', default: 'pinned' },
    },
  });
  const wanted = (values.format ?? values.only)?.split(',');
  const { versions } = values;
  if (versions !== 'pinned' && versions !== 'newest') throw new Error('--versions is pinned or newest');
  const into = versions === 'pinned' ? producersFolder() : join(producersFolder(), 'newest');
  let failures = 0;
  for (const producer of PRODUCERS.filter(({ format }) => wanted?.includes(format) ?? true)) {
    const missing = install(producer, into, versions);
    if (missing !== null) {
      failures += tell(producer, 'npm install', missing, '');
      continue;
    }
    for (const path of positionals.length > 0 ? positionals : fixturesOf(producer)) {
      failures += await tryFile(producer, path, into);
    }
    const client = clientOf(producer.format);
    if (client !== null && positionals.length === 0) {
      const missing = install(client.package, into, versions);
      const version = missing === null ? versionOf(client, into) : '';
      const faults = missing ?? (await checkContinued(producer.format, into));
      const fine = `${client.command} ${version} goes on, on a terminal`;
      failures += tell(producer, 'compact resume', faults, fine);
      const handedOver = HANDED_OVER.find((format) => format === producer.format);
      if (handedOver !== undefined)
        failures += tell(producer, 'compact handoff --to', await checkHandedOver(handedOver, into), fine);
    }
    for (const installation of INSTALLATIONS.filter(({ client }) => client === producer.folder)) {
      const { needs } = installation;
      const faults =
        (needs === undefined ? null : install(needs, into, versions)) ?? (await checkInstalled(installation, into));
      const what = installation.plugin === undefined ? 'compact install' : 'plugin';
      failures += tell(producer, what, faults, 'it works in the program, offline');
    }
  }
  console.log(failures === 0 ? 'All that was compacted is read back.' : `${failures} failed.`);
  return failures === 0 ? 0 : 1;
}

process.exitCode = await main();
