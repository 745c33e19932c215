import assert from 'node:assert/strict';

/** How much longer the second text is. */
const FACTOR = 4;
/** Four times the text may take this many times as long; with the square of the text it would take 16 times as long. */
const MAX_GROWTH = 10;
/** What does not grow with the text, such as compiling a pattern for longer runs. */
const SLACK_MS = 100;

/** Fails if the processor time of `work` grows faster than the text: `unit` repeated to about `chars` characters, and to four times as many. */
export function assertLinear(unit: string, chars: number, work: (text: string) => void): void {
  const many = cpuMs(unit, chars * FACTOR, work);
  if (many <= SLACK_MS) return; // however short the time for less text is
  const few = cpuMs(unit, chars, work);
  assert.ok(
    many <= few * MAX_GROWTH + SLACK_MS,
    `${JSON.stringify(unit)}: ${Math.round(few)} ms, then ${Math.round(many)} ms`,
  );
}

/** Processor time, which hardly depends on what else the machine does. */
function cpuMs(unit: string, chars: number, work: (text: string) => void): number {
  const text = unit.repeat(chars / unit.length);
  const before = process.cpuUsage();
  work(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
