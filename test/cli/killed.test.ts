import { writeSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import type { Step } from '../../src/ports/runtime.ts';
import {
  type Account,
  type Between,
  type Case,
  type Mode,
  type Moment,
  playKilled,
  removeScenes,
} from '../support/killed-runs.ts';
import { STORED_SESSIONS } from '../support/stored-sessions.ts';

/** So many keep two cores at work. */
const CASES_AT_A_TIME = 3;
/** `KILL_TABLE=1` (`npm run kills`) plays every case, and prints what was found; else formats and cycles take turns. */
const isWhole = process.env['KILL_TABLE'] !== undefined;

const once = (step: Step): Moment => ({ step, nth: 1 });
const SUMMARIZED = [1, 2, 3, 4].map((nth): Moment => ({ step: 'summarized', nth }));
const WRITING = (['written', 'synced', 'looked', 'moved', 'renamed', 'folder-synced'] as const).map(once);
const IN_PLACE = [once('read'), once('planned'), ...SUMMARIZED, once('prepared'), ...WRITING, once('applied')];
/** Nothing is moved aside for a new file. */
const TO_A_FILE = IN_PLACE.filter(({ step }) => step !== 'moved');

const MOMENTS: Readonly<Record<Mode, readonly Moment[]>> = {
  'in place': IN_PLACE,
  'to a file': TO_A_FILE,
  'beside it': TO_A_FILE,
  'to stdout': TO_A_FILE.filter(({ step }) => !WRITING.some((one) => one.step === step)),
  'restored in place': WRITING,
};
const MODES: readonly Mode[] = ['in place', 'to a file', 'beside it', 'to stdout', 'restored in place'];
const CYCLES = ['first', 'second'] as const;

const everyCase = MODES.flatMap((mode) =>
  CYCLES.flatMap((cycle) =>
    STORED_SESSIONS.flatMap((session) =>
      MOMENTS[mode].map((moment): Case => ({ session, cycle, mode, kills: [moment], between: 'nothing' })),
    ),
  ),
);

/**
 * In place there is no second copy, so each step is killed. In the other modes a bug ends the run: two of them write a new file in the same
 * way, and share the steps.
 */
const someCases = everyCase.flatMap((one): readonly Case[] => {
  const {
    mode,
    cycle,
    session,
    kills: [moment = once('read')],
  } = one;
  const at = MOMENTS[mode].indexOf(moment);
  // What a run leaves that nobody disturbs is found out once for each format, cycle and mode.
  const turn = mode === 'in place' ? at : MODES.indexOf(mode);
  if (session !== STORED_SESSIONS[turn % STORED_SESSIONS.length] || cycle !== CYCLES[at % CYCLES.length]) return [];
  if (mode === (at % 4 < 2 ? 'beside it' : 'to a file') || moment.nth > 2) return [];
  if (mode === 'in place') return [one];
  return moment.nth === 1 ? [{ ...one, fails: true }] : [];
});

/** In the order in which the cases are listed; null: not played to its end. */
const accounts = new Map<Case, Account | null>();

function testEnded(one: Case): void {
  const steps = one.kills.map(({ step, nth }) => (nth === 1 ? step : `${step} ${nth}`)).join(', then after ');
  const { session, cycle, mode, between } = one;
  const name = `${one.fails === true ? 'failed' : 'killed'} after ${steps} (${session.format}, ${cycle} compaction, ${mode}${between === 'nothing' ? '' : `, ${between}`})`;
  accounts.set(one, null);
  test(name, async () => {
    accounts.set(one, await playKilled(one));
  });
}

suite(
  'ended at any step, the file is as it was or verifies; the next run leaves what an undisturbed run leaves',
  { concurrency: CASES_AT_A_TIME },
  () => {
    for (const one of isWhole ? everyCase : someCases) testEnded(one);
  },
);

const EARLY: Moment = { step: 'summarized', nth: 2 };
const BOTH_SIDES = [once('synced'), once('renamed')];

suite('and so it is when something comes between', { concurrency: CASES_AT_A_TIME }, () => {
  const betweens: readonly (readonly [Between, readonly Moment[]])[] = [
    ['append', [EARLY, ...BOTH_SIDES]],
    ['copy', [EARLY, ...BOTH_SIDES]],
    ['verify', BOTH_SIDES],
    ['restore', BOTH_SIDES],
    // Beside a name that is gone nothing is looked for but what the archive knows of.
    ['move', [once('prepared'), ...BOTH_SIDES]],
    ['delete', BOTH_SIDES],
  ];
  const cases = betweens.flatMap(([between, moments], index) => {
    // By turns before and after the new file is in its place.
    const played = isWhole ? moments : moments.slice(-2).slice(index % 2, (index % 2) + 1);
    return played.map((moment, at): Omit<Case, 'session'> => {
      const cycle = at === 1 && between !== 'append' ? 'second' : 'first';
      return { between, kills: [moment], cycle, mode: 'in place' };
    });
  });
  const twice = (isWhole ? (['prepared', 'written', 'looked'] as const) : (['written'] as const)).map(
    (step, at): Omit<Case, 'session'> => {
      const kills = [once(step), once(TO_A_FILE.at(-2 - at)?.step ?? 'read')];
      return { between: 'nothing', kills, cycle: 'second', mode: 'in place' };
    },
  );
  // What a real kill leaves after each step is proven above.
  const ending = isWhole ? {} : ({ fails: true } as const);
  for (const [at, one] of [...cases, ...twice].entries())
    for (const [index, session] of STORED_SESSIONS.entries())
      if (isWhole || index === at % STORED_SESSIONS.length) testEnded({ ...one, ...ending, session });
});

after(() => {
  removeScenes();
  if (isWhole) writeSync(1, renderTable());
});

/** A row for each step and each thing that came between, a column for each mode; how many cases were alike. */
function renderTable(): string {
  const rowOf = ({ kills, between }: Case): string =>
    `${kills.map(({ step, nth }) => `${step}${nth === 1 ? '' : ` ${nth}`}`).join(', ')}${between === 'nothing' ? '' : `, ${between}`}`;
  const rows = [...new Set([...accounts.keys()].map(rowOf))];
  const cell = (row: string, mode: Mode): string => {
    const found = [...accounts].filter(([one]) => rowOf(one) === row && one.mode === mode);
    const texts = found.map(([, account]) => {
      if (account === null) return 'failed';
      const { found: state, leftovers, next } = account;
      const left = leftovers.length === 0 ? '' : ` (${leftovers.join(', ')})`;
      return `${state}${left} → ${next}`;
    });
    return [...new Set(texts)].map((text) => `${text} ×${texts.filter((one) => one === text).length}`).join('<br>');
  };
  const lines = rows.map((row) => `| ${row} | ${MODES.map((mode) => cell(row, mode)).join(' | ')} |`);
  return [`| killed after | ${MODES.join(' | ')} |`, `|${'---|'.repeat(MODES.length + 1)}`, ...lines, ''].join('\n');
}
