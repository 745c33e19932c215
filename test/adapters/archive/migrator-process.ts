import { writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { migrate } from '../../../src/adapters/archive/sqlite/schema.ts';

/** Migrates the database at `path` with `steps` (JSON), and says so right before. */
const [path = '', steps = '[]'] = process.argv.slice(2);
const migrations: readonly string[] = JSON.parse(steps);
const db = new Database(path, { timeout: 20_000 });
writeSync(1, 'in line\n');
migrate(db, migrations);
db.close();
