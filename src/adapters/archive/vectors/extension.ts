import Database from 'better-sqlite3';
import { err, ok, type Result } from '../../../core/result.ts';

/** Where sqlite-vec is for this machine; the error says why it cannot be used here. */
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
    // Its package has no build for the machine, was left out of the installation, or was made for another system library.
    return err(`sqlite-vec cannot be loaded (${error instanceof Error ? error.message : String(error)})`);
  }
}
