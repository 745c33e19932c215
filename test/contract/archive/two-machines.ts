import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { Client } from 'pg';
import { chatTranscript } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { done, startWaiting } from '../../support/program.ts';

// Two machines that share a folder and an archive in Postgres, but no locks: npm run test:postgres

const server = startPostgres();
after(server.remove);
const original = chatTranscript(24);

type Place = { readonly folder: string; readonly file: string; readonly archive: string };

/** Every test has a schema of its own. */
const schemas = { count: 0 };

function setUp(t: TestContext): Place {
  schemas.count += 1;
  const folder = folderWith(t, { 'talk.jsonl': original });
  return { folder, file: join(folder, 'talk.jsonl'), archive: `${server.url}&schema=machines${schemas.count}` };
}

async function query({ archive }: Place, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: archive });
  await client.connect();
  const { rows } = await client.query(sql.replaceAll('SCHEMA', new URL(archive).searchParams.get('schema') ?? ''));
  await client.end();
  return rows;
}

/** What the first machine stored belongs to a machine that is not this one, and its lock is not held here. */
async function moveElsewhere(place: Place, lock: 'left' | 'gone'): Promise<void> {
  await query(place, "UPDATE SCHEMA.compactions SET machine = 'elsewhere'");
  for (const name of readdirSync(place.folder).filter((one) => one.endsWith('.lock'))) {
    rmSync(join(place.folder, name));
    if (lock === 'left') writeFileSync(join(place.folder, name), '');
  }
}

async function countPrepared(place: Place): Promise<number> {
  return (await query(place, "SELECT id FROM SCHEMA.compactions WHERE status = 'prepared'")).length;
}

async function assertWhole({ file, archive }: Place): Promise<void> {
  await done(['verify', '--archive', archive, file]);
  assert.equal((await done(['restore', '--all', '--archive', archive, file])).stdout, original);
}

for (const { step, fate, lock } of [
  { step: 'prepared', fate: 'dies', lock: 'left' },
  { step: 'prepared', fate: 'goes on', lock: 'left' },
  { step: 'looked', fate: 'dies', lock: 'left' },
  { step: 'looked', fate: 'goes on', lock: 'left' },
  { step: 'looked', fate: 'goes on', lock: 'gone' },
  { step: 'renamed', fate: 'dies', lock: 'left' },
  { step: 'renamed', fate: 'goes on', lock: 'left' },
] as const) {
  test(`a machine stops after '${step}', another one works, and the first ${fate} (lock ${lock})`, async (t) => {
    const place = setUp(t);
    const { file, archive } = place;
    const first = await startWaiting(t, step, { args: ['-i', '--archive', archive, file] });
    await moveElsewhere(place, lock);
    await done(['-i', '--keep-recent', '3', '--archive', archive, file]);
    const second = readFileSync(file, 'utf8');
    await assertWhole(place);
    assert.equal(await countPrepared(place), step === 'renamed' ? 0 : 1);
    const ended = fate === 'goes on' ? await first.goOn() : null;
    if (ended === null) first.child.kill('SIGKILL');
    await assertWhole(place);
    // The first may read what the other one wrote and go on from there: the way back leads through both, as was just proven.
    const wentOn = ended !== null && /: compacted in place$/m.test(ended.stderr);
    assert.equal(readFileSync(file, 'utf8') === second, !wentOn);
    assert.equal(await countPrepared(place), step === 'renamed' || fate === 'goes on' ? 0 : 1);
  });
}
