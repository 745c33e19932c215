import Database from 'better-sqlite3';
import { err, ok, type Result } from '../../../core/result.ts';

/** The path of sqlite-vec for this machine; the error says why it cannot be used here. */
export async function findVectorExtension(): Promise<Result<string, string>> {
  try {
    const { getLoadablePath } = await import('sqlite-vec');
    const path = getLoadablePath();
    const db = new Database(':memory:');
    try {
      db.loadExtension(path);
    } finally {
      db.close();
    }
    return ok(path);
  } catch (error) {
    // There is no build for this machine, the package was not installed, or it was built for another system library.
    return err(`sqlite-vec cannot be loaded (${error instanceof Error ? error.message : String(error)})`);
  }
}

export function sqliteVersion(): string {
  const db = new Database(':memory:');
  try {
    return String(db.prepare('SELECT sqlite_version()').pluck().get());
  } finally {
    db.close();
  }
}
