import type { ArchiveFailure } from '../../../ports/archive.ts';
import { DamageError, guardPort } from '../failure.ts';

/** Where an archive is, for messages. */
export type Place = {
  /** The URL, without a password. */
  readonly path: string;
  readonly host: string;
  readonly user: string;
  readonly database: string;
};

/** The oldest server that is tested. */
export const MIN_SERVER_VERSION = 15;

/** What an error of the driver or a damaged row means for the user; null: another error, so a bug. */
export function toFailure(error: unknown, place: Place): ArchiveFailure | null {
  const { path } = place;
  if (error instanceof DamageError) return { kind: 'damaged', path, reason: error.message };
  if (!(error instanceof Error)) return null;
  const code = codeOf(error);
  const known = describe(error, code, place);
  if (known !== null) return { kind: 'cannot-open', path, ...known };
  if (code === '53100') return { kind: 'no-space', path };
  if (code === '55P03' || isConflict(error)) return { kind: 'busy', path };
  if (code === 'XX001' || code === 'XX002') return { kind: 'damaged', path, reason: firstLine(error) };
  // Classes of errors that only a wrong statement or wrong values cause.
  const isMistake = /^(?:22|23|26|34|42)/.test(code ?? '');
  return code !== null && /^[\dA-Z]{5}$/.test(code) && !isMistake
    ? { kind: 'cannot-open', path, reason: `the server says: ${firstLine(error)} (${code})` }
    : null;
}

function describe(error: Error, code: string | null, { host, user, database }: Place) {
  if (isLost(error)) {
    const reason = `no Postgres server answers at ${host} (${code ?? firstLine(error)})`;
    return { reason, advice: 'Start the server, or check the host and the port of --archive.' };
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const reason = `the certificate of ${host} is for another name`;
    return { reason, advice: 'Name the server in the URL as its certificate does.' };
  }
  if (isCertificateProblem(error, code)) {
    const advice = 'If the server has its own authority, add sslmode=verify-full&sslrootcert=FILE to the URL.';
    return { reason: `no encrypted connection to ${host} is possible: ${firstLine(error)}`, advice };
  }
  if (/does not support SSL|establishing an SSL connection/.test(error.message)) {
    const advice =
      'Turn on ssl at the server, or say sslmode=disable in the URL if nobody else can read what goes there.';
    return { reason: `the server at ${host} does not offer encrypted connections`, advice };
  }
  if (code === '28P01' || /password must be a string|no password/i.test(error.message)) {
    const reason = `the server rejected the password of user ${user}, or none was given`;
    return { reason, advice: 'Set PGPASSWORD, or add a line for this server to ~/.pgpass.' };
  }
  if (code === '28000' && /no encryption|SSL off/.test(error.message)) {
    const reason = `the server lets user ${user} in only over an encrypted connection, or not at all`;
    return { reason, advice: 'Add sslmode=verify-full to the URL, or ask for an entry in pg_hba.conf.' };
  }
  if (code === '28000')
    return { reason: `the server refuses user ${user} (${firstLine(error)})`, advice: 'Name another user in the URL.' };
  if (code === '3D000')
    return { reason: `database ${database} does not exist`, advice: `Create it with: createdb ${database}` };
  if (code === '42501') {
    const reason = `user ${user} lacks a permission (${firstLine(error)})`;
    const advice =
      "Name another user in the URL, or let an administrator run what 'compact archive grants writer' prints (or owner, or reader).";
    return { reason, advice };
  }
  if (code === '53300')
    return { reason: 'the server has no free connection', advice: 'Use fewer workers, or raise max_connections.' };
  if (code !== '57014') return null;
  const reason = 'a statement took too long, and the server stopped it';
  return { reason, advice: 'Try again when the server is less busy.' };
}

/** The network does not lead to the server, or the server shuts down, was shut down, or starts. */
const LOST_CODE = /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|57P0[123])$|^08(?!P01)/;

/** Whether there is no connection to the server now, so that it is worth waiting for one. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error) ?? '';
  // A file that the URL names may be missing too; waiting does not help then.
  const isSocketMissing = code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect';
  if (isSocketMissing || LOST_CODE.test(code)) return true;
  return /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered a connection error|^Query read timeout$/.test(
    error.message,
  );
}

function isCertificateProblem(error: Error, code: string | null): boolean {
  return code === null
    ? error.message.startsWith('self-signed certificate')
    : /CERT|^UNABLE_TO_|^ERR_(?:TLS|SSL|OSSL)_|^EPROTO$|^HOSTNAME_MISMATCH$/.test(code);
}

/** Two transactions stood in each other's way, and the server ended one of them. */
export function isConflict(error: unknown): boolean {
  return error instanceof Error && ['40001', '40P01'].includes(codeOf(error) ?? '');
}

function codeOf(error: Error): string | null {
  return 'code' in error && typeof error.code === 'string' ? error.code : null;
}

function firstLine({ message }: Error): string {
  return message.split('\n')[0] ?? '';
}

/** The same port, whose methods throw `ArchiveError`s for failures of the database. */
export function guardMethods<Port extends object>(port: Port, place: Place): Port {
  return guardPort(port, (error) => toFailure(error, place));
}
