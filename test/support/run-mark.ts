import type { RunMark } from '../../src/ports/archive.ts';

/** A run of Kim's. */
export function runMark(token: string, begunAt = new Date(0)): RunMark {
  return { token, begunAt, by: { user: 'kim', host: 'desk', version: '1.2.3' }, command: 'compact -i logs' };
}
