import process from 'node:process';

/** What the driver and the queue tell programmers: pg, pg-connection-string, pg-boss. */
const ADVICE = /\bpg@\d|\bpg v\d|^SECURITY WARNING: The SSL modes|pgboss\.io|PGBOSS_/;

/** Keeps the driver's advice to programmers from the users' stderr. Other warnings are shown as before. */
export function hideDriverAdvice(host: Pick<NodeJS.Process, 'emitWarning'> = process): void {
  const emit = host.emitWarning.bind(host);
  host.emitWarning = (warning: string | Error, ...rest: readonly unknown[]): void => {
    const text = typeof warning === 'string' ? warning : warning.message;
    if (!ADVICE.test(`${text} ${rest.join(' ')}`)) Reflect.apply(emit, host, [warning, ...rest]);
  };
}
