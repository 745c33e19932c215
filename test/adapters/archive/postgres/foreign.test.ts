import { after } from 'node:test';
import { openOn } from '../../../../src/adapters/archive/postgres/open.ts';
import { MALLORY, plantingContract } from '../../../contract/archive/planting.ts';
import { startPglite } from '../../../contract/archive/pglite.ts';

const { database, driver } = await startPglite();
after(() => database.close());

/** One connection has all users: ann between, and the administrator in the statements of a test. */
async function asAdmin<T>(work: () => Promise<T>): Promise<T> {
  await database.exec('RESET ROLE');
  try {
    return await work();
  } finally {
    await database.exec('RESET ROLE; SET ROLE ann');
  }
}

await database.exec(
  `${MALLORY} CREATE ROLE ann; GRANT CREATE ON DATABASE postgres TO ann; SET search_path = planted; SET ROLE ann`,
);
const place = { path: 'postgres://ann@localhost/test', host: 'localhost', user: 'ann', database: 'test' };
const options = { create: true, notice: () => undefined, wait: async () => undefined, place, schema: 'planted' };

plantingContract({
  execute: (sql) => asAdmin(async () => void (await database.exec(sql))),
  queryTexts: (sql) => asAdmin(async () => (await database.query<{ name: string }>(sql)).rows.map(({ name }) => name)),
  open: async () => {
    const opened = await openOn(driver, options);
    if (!opened.ok) return opened.error;
    return opened.value ?? (await Promise.reject(new Error('there is no archive')));
  },
});
