import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Client } from 'pg';
import { keepLogs } from '../../../src/adapters/archive/postgres/grants.ts';
import { LOGS } from '../../../src/adapters/archive/sql/definitions.ts';
import { chatTranscript } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { done, runHere } from '../../support/program.ts';

// The roles of `compact archive grants` on a real server: npm run test:postgres

const server = startPostgres();
after(server.remove);
const as = (user: string, schema = 'team_a'): string =>
  `${server.url.replace('user=compact', `user=${user}`)}&schema=${schema}`;
const [owner, writer, reader] = [as('team_a_owner'), as('team_a_writer'), as('team_a_reader')];

async function execute(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, options: '-c search_path=team_a' });
  await client.connect();
  try {
    const results: unknown = await client.query<Record<string, unknown>>(sql);
    return [results].flat().flatMap((result) => (result as { readonly rows: readonly Record<string, unknown>[] }).rows);
  } finally {
    await client.end();
  }
}

async function grant(role: string, schema = 'team_a'): Promise<void> {
  const { stdout } = await done(['archive', 'grants', role, '--archive', as('nobody', schema)]);
  await execute(server.url, stdout);
}

const original = chatTranscript(24);

test('an owner, a writer and a reader share an archive, and a reader changes nothing', async (t) => {
  const folder = folderWith(t, { 'talk.jsonl': original, 'later.jsonl': original.replaceAll('1', '2') });
  const [talk, later] = [join(folder, 'talk.jsonl'), join(folder, 'later.jsonl')];
  // Before there are any tables, and again when there are.
  for (const role of ['writer', 'owner', 'reader', 'writer']) await grant(role);
  await done(['capture', '--archive', join(folder, 'other.db'), later]);
  await done(['work', '--add', '-i', '--archive', owner, talk]);
  for (const role of ['owner', 'writer', 'reader']) await grant(role);

  await t.test('a writer works on jobs, makes the partitions of a month, and undoes', async () => {
    await done(['work', '--folder', folder, '--archive', writer]);
    const [made = {}] = await execute(
      server.url,
      "SELECT count(*)::int AS count FROM pg_inherits WHERE inhparent = 'lines'::regclass",
    );
    assert.equal(made['count'], 2);
    await done(['verify', '--archive', writer, talk]);
    await done(['-i', '--archive', writer, later]);
    await done(['undo', '--archive', writer]);
    await done(['-i', '--archive', writer, later]);
    await done(['archive', 'index', '--archive', writer]);
    const erased = await runHere(['archive', 'erase', '--match', 'and23022', '--yes', '--archive', writer]);
    assert.match(erased.stderr, /only the owner of its tables may rewrite them\. Connect as the owner of the archive/);
    await done(['archive', 'hold', 'list', '--archive', owner]);
    assert.equal((await done(['archive', 'check', '--archive', writer])).stdout.includes('sound'), true);
  });

  await t.test('a reader searches and restores', async () => {
    assert.equal((await done(['restore', '--all', '--archive', reader, talk])).stdout, original);
    assert.match((await done(['search', '--archive', reader, 'backoff'])).stdout, /talk\.jsonl/);
    await done(['verify', '--archive', reader, talk]);
    await done(['archive', 'list', '--archive', reader]);
    await done(['archive', 'stats', '--archive', reader]);
    await done(['archive', 'check', '--archive', reader]);
    await done(['work', '--status', '--archive', reader]);
  });

  const WRITES: readonly (readonly string[])[] = [
    ['--keep-recent', '2', '--fresh', '-i', later],
    ['capture', later],
    ['undo'],
    ['archive', 'index'],
    ['archive', 'prune', '--older-than', '2099-01-01', '--yes'],
    ['archive', 'erase', '--match', 'backoff', '--yes'],
    ['archive', 'hold', 'add', '--source', '*.jsonl'],
    ['archive', 'merge', join(folder, 'other.db')],
    ['rules', '--drop-rule', 'never', later],
    ['work', '--add', later],
    ['work', '--retry'],
    ['work', '--folder', folder],
  ];
  for (const args of WRITES)
    await t.test(`a reader's 'compact ${args.slice(0, 2).join(' ')}' ends in one line`, async () => {
      const { code, stderr } = await runHere([...args, '--archive', reader]);
      assert.notEqual(code, 0, stderr);
      assert.match(stderr, /(?:you may only read it|lacks a permission)/);
      assert.doesNotMatch(stderr, /^ +at /m);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    });
});

test('a writer may add to a log, but neither change nor remove anything in it', async () => {
  for (const role of ['owner', 'writer']) await grant(role, 'team_b');
  const [ofOwner, ofWriter] = [as('team_b_owner'), as('team_b_writer')];
  await execute(
    ofOwner,
    `CREATE TABLE team_b.log (id int); CREATE TABLE team_b.other (id int); ${keepLogs('team_b', ['log'])}`,
  );
  await execute(
    ofWriter,
    'INSERT INTO team_b.log VALUES (1); INSERT INTO team_b.other VALUES (1); UPDATE team_b.other SET id = 2',
  );
  for (const change of ['UPDATE team_b.log SET id = 2', 'DELETE FROM team_b.log', 'TRUNCATE team_b.log'])
    await assert.rejects(execute(ofWriter, change), /permission denied for table log/);
  assert.deepEqual(await execute(ofWriter, 'SELECT id FROM team_b.log'), [{ id: 1 }]);
});

test("the archive's own logs are kept so, and two teams do not see each other", async () => {
  assert.deepEqual(LOGS, ['deeds']);
  for (const table of LOGS) {
    const rights = `SELECT has_table_privilege('team_a_writer', 'team_a.${table}', 'INSERT') AS adds, has_table_privilege('team_a_writer', 'team_a.${table}', 'UPDATE, DELETE, TRUNCATE') AS changes`;
    assert.deepEqual(await execute(server.url, rights), [{ adds: true, changes: false }], table);
  }
  const { code, stderr } = await runHere(['archive', 'list', '--archive', as('team_b_writer')]);
  assert.notEqual(code, 0);
  assert.match(stderr, /user team_b_writer lacks a permission \(permission denied for schema team_a\)/);
});
