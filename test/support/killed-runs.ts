import assert from 'node:assert/strict';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findMovedAside } from '../../src/core/paths.ts';
import { assertNever } from '../../src/core/result.ts';
import type { Step } from '../../src/ports/runtime.ts';
import { type ArchiveRows, readArchiveRows } from './archive-rows.ts';
import { chatTranscript } from './chat.ts';
import { type Ended, failHere, runHere, runProcess } from './program.ts';
import type { StoredSession } from './stored-sessions.ts';

export type Mode = 'in place' | 'to a file' | 'beside it' | 'to stdout' | 'restored in place';
export type Moment = { readonly step: Step; readonly nth: number };
/** What comes between a killed run and the next one. */
export type Between = 'nothing' | 'append' | 'move' | 'copy' | 'delete' | 'verify' | 'restore';

export type Case = {
  readonly session: StoredSession;
  readonly cycle: 'first' | 'second';
  readonly mode: Mode;
  /** A run for each. */
  readonly kills: readonly Moment[];
  readonly between: Between;
  /** A bug ends the run instead, in this process. */
  readonly fails?: true;
};

type Found = {
  readonly found: 'as it was' | 'done';
  /** What lies about: a lock, a temporary file, rows that are only prepared. */
  readonly leftovers: readonly string[];
};

/** What the first kill left, and what the next run said of itself. */
export type Account = Found & { readonly next: string };

/** A folder with a transcript and an archive, in which commands are run. */
type Scene = { readonly folder: string; readonly file: string; readonly archive: string };

const FOLDER = mkdtempSync(join(tmpdir(), 'compact-killed-'));
/** Several chunks a cycle, and so many batches after two cycles that the older ones are merged. */
const SETTINGS = ['--chunk-size', '15', '--max-summary-tokens', '400'];
const OTHER = 'other.jsonl';

/** To be called when all is done. */
export function removeScenes(): void {
  rmSync(FOLDER, { recursive: true, force: true });
}

/** Plays a case through; throws where anything is not as it has to be. */
export async function playKilled(one: Case): Promise<Account> {
  const scene = await openScene(one);
  const clean = await playClean(one, 'nothing', false);
  const accounts: Found[] = [];
  for (const { step, nth } of one.kills) {
    const before = readTexts(scene);
    const moment = { step, nth };
    const killed = await (one.fails === true ? fail(one, scene, moment) : kill(one, scene, moment));
    accounts.push(await inspect(one, scene, { before, clean, killed }));
  }
  const isDone = accounts.some(({ found }) => found === 'done');
  const next = await goOn(one, scene, isDone);
  // What was prepared for a file that is gone is kept: it is nowhere else.
  const isKept = isDone || one.between === 'delete';
  const wanted = one.between === 'nothing' ? clean : await playClean(one, one.between, isKept);
  const outcome = readOutcome(scene, next);
  assert.deepEqual({ ...outcome, said: null }, { ...wanted, said: null });
  await proveRestorable(one, scene, outcome);
  rmSync(scene.folder, { recursive: true });
  return { found: 'as it was', leftovers: [], ...accounts[0], next: outcome.said };
}

async function kill(one: Case, scene: Scene, { step, nth }: Moment): Promise<Ended> {
  const happening = { step, nth, what: { kind: 'signals', names: ['SIGKILL'] } } as const;
  const killed = await runProcess(commandOf(one, scene), { script: { happening } });
  assert.equal(killed.signal, 'SIGKILL', `the step is taken: ${JSON.stringify(killed)}`);
  return killed;
}

/** Its report tells of the bug. */
async function fail(one: Case, scene: Scene, { step, nth }: Moment): Promise<Ended> {
  const ended = await failHere(commandOf(one, scene), step, nth);
  return one.mode === 'to stdout' ? ended : { ...ended, stdout: '' };
}

type Outcome = {
  readonly texts: Readonly<Record<string, string>>;
  /** Every name in the folder and beside the archive. */
  readonly names: readonly string[];
  readonly stdout: string;
  readonly rows: ArchiveRows | null;
  readonly said: string;
};

const cleanOutcomes = new Map<string, Promise<Outcome>>();

/** The same without a kill: what comes between comes after a whole run, or before any. */
function playClean(one: Case, between: Between, isDone: boolean): Promise<Outcome> {
  const key = JSON.stringify([one.session.format, one.cycle, one.mode, between, isDone]);
  const known = cleanOutcomes.get(key);
  if (known !== undefined) return known;
  const play = async (): Promise<Outcome> => {
    const scene = await openScene(one);
    if (isDone) assert.equal((await runHere(commandOf(one, scene))).code, 0);
    return readOutcome(scene, await goOn({ ...one, between }, scene, isDone));
  };
  const outcome = play();
  cleanOutcomes.set(key, outcome);
  return outcome;
}

const readyScenes = new Map<string, Promise<Scene>>();

/** A scene of its own, copied from one that was made by runs that nobody killed. */
async function openScene(one: Case): Promise<Scene> {
  const cycles = cyclesBefore(one);
  const key = `${one.session.format} ${cycles}`;
  const ready = readyScenes.get(key) ?? makeScene(one.session, cycles);
  readyScenes.set(key, ready);
  const folder = mkdtempSync(join(FOLDER, 'case-'));
  cpSync((await ready).folder, folder, { recursive: true });
  return sceneIn(folder);
}

function cyclesBefore({ cycle, mode }: Case): number {
  return (cycle === 'first' ? 0 : 1) + (mode === 'restored in place' ? 1 : 0);
}

async function makeScene(session: StoredSession, cycles: number): Promise<Scene> {
  const scene = sceneIn(mkdtempSync(join(FOLDER, 'ready-')));
  mkdirSync(join(scene.folder, 'archive'));
  writeFileSync(scene.file, session.first);
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    assert.equal((await runHere(['-i', '-q', ...SETTINGS, '--archive', scene.archive, scene.file])).code, 0);
    if (cycle === 1) appendFileSync(scene.file, session.more);
  }
  return scene;
}

function sceneIn(folder: string): Scene {
  return { folder, file: join(folder, 'talk.jsonl'), archive: join(folder, 'archive', 'archive.db') };
}

/** The transcript before its first compaction. */
function originalOf({ session, cycle, mode }: Case): string {
  return cycle === 'first' && mode !== 'restored in place' ? session.first : session.first + session.more;
}

function commandOf(one: Case, { folder, archive, file }: Scene): readonly string[] {
  const rest = [...SETTINGS, '--archive', archive, file];
  switch (one.mode) {
    case 'in place':
      return ['-i', '--json', ...rest];
    case 'to a file':
      return ['-o', join(folder, 'out.jsonl'), '--json', ...rest];
    case 'beside it':
      return ['--json', ...rest];
    case 'to stdout':
      return ['-o', '-', ...rest];
    case 'restored in place':
      return ['restore', '-i', '--all', '--json', '--archive', archive, file];
    default:
      return assertNever(one.mode);
  }
}

/** What comes between, and the run after it. */
async function goOn(one: Case, scene: Scene, isDone: boolean): Promise<Ended> {
  const { folder, file, archive } = scene;
  const moved = { ...scene, file: join(folder, 'moved.jsonl') };
  const expected = one.mode === 'restored in place' && isDone ? 1 : 0;
  const next = async (at: Scene): Promise<Ended> => {
    const ended = await runHere(commandOf(one, at));
    assert.equal(ended.code, expected, ended.stderr);
    return ended;
  };
  switch (one.between) {
    case 'append':
      appendFileSync(file, one.session.more);
      return next(scene);
    case 'move':
      renameSync(file, moved.file);
      return next(moved);
    case 'copy':
      copyFileSync(file, moved.file);
      await next(moved);
      return next(scene);
    case 'delete':
      rmSync(file);
      writeFileSync(join(folder, OTHER), chatTranscript(24, 500));
      return next({ ...scene, file: join(folder, OTHER) });
    case 'verify':
      await runHere(['verify', '--archive', archive, file]);
      return next(scene);
    case 'restore':
      await runHere(['restore', '--all', '--archive', archive, file]);
      return next(scene);
    case 'nothing':
      return next(scene);
    default:
      return assertNever(one.between);
  }
}

/** The source is as it was, or what was written is what a run that nobody killed writes, and verifies. */
async function inspect(
  one: Case,
  scene: Scene,
  seen: { readonly before: Outcome['texts']; readonly clean: Outcome; readonly killed: Ended },
): Promise<Found> {
  const { before, clean, killed } = seen;
  const isDone = one.mode === 'to stdout' ? killed.stdout !== '' : isSame(readTexts(scene), clean.texts);
  assert.deepEqual(readTexts(scene), isDone ? clean.texts : before);
  assert.equal(killed.stdout, one.mode === 'to stdout' && isDone ? clean.stdout : '');
  const isCompacted = one.mode === 'restored in place' ? !isDone : isDone || one.cycle === 'second';
  const target = isDone ? targetOf(one, scene) : scene.file;
  // Verifying settles the archive, which is left to the next run: what it does is taken back.
  const aside = `${scene.folder}-aside`;
  cpSync(scene.folder, aside, { recursive: true });
  const statuses = readArchiveRows(scene.archive)?.statuses ?? [];
  const prepared = statuses.filter((status) => status === 'prepared');
  // Nothing counts as applied before it is written.
  if (!isDone) assert.equal(statuses.length - prepared.length, cyclesBefore(one));
  if (isCompacted) {
    const verified = await runHere(['verify', '--archive', scene.archive, target], target === '-' ? killed.stdout : '');
    assert.equal(verified.code, 0, verified.stderr + verified.stdout);
  }
  rmSync(scene.folder, { recursive: true });
  renameSync(aside, scene.folder);
  const files = readdirSync(scene.folder).filter(isLeftover);
  const endings = files.map((name) => name.slice(name.lastIndexOf('.') + 1));
  return { found: isDone ? 'done' : 'as it was', leftovers: [...endings, ...prepared].toSorted() };
}

function isSame(texts: Outcome['texts'], others: Outcome['texts']): boolean {
  return Object.keys(others).every((name) => texts[name] === others[name]);
}

function targetOf({ mode }: Case, { folder, file }: Scene): string {
  if (mode === 'to stdout') return '-';
  if (mode === 'to a file') return join(folder, 'out.jsonl');
  return mode === 'beside it' ? file.replace('.jsonl', '.compact.jsonl') : file;
}

/** Each compacted file of the folder verifies and gives back what it was made of. */
async function proveRestorable(one: Case, { folder, archive }: Scene, { texts, stdout }: Outcome): Promise<void> {
  const original = originalOf(one) + (one.between === 'append' ? one.session.more : '');
  const compacted = one.mode === 'to stdout' ? { '-': stdout } : texts;
  for (const [name, text] of Object.entries(compacted)) {
    if (text === original || isSource(one, name)) continue;
    const path = name === '-' ? '-' : join(folder, name);
    const piped = name === '-' ? text : '';
    const verified = await runHere(['verify', '--archive', archive, path], piped);
    assert.equal(verified.code, 0, `${name}: ${verified.stderr}${verified.stdout}`);
    const restored = await runHere(['restore', '--all', '--archive', archive, path], piped);
    assert.deepEqual([restored.code, restored.stdout], [0, name === OTHER ? chatTranscript(24, 500) : original], name);
  }
}

function isSource({ mode }: Case, name: string): boolean {
  return (mode === 'to a file' && name !== 'out.jsonl') || (mode === 'beside it' && !name.includes('.compact.'));
}

function readOutcome(scene: Scene, { stdout, stderr }: Ended): Outcome {
  return {
    texts: readTexts(scene),
    names: readdirSync(scene.folder, { recursive: true, encoding: 'utf8' }).toSorted(),
    stdout: stdout.includes('[Context Summary') ? stdout : '',
    rows: readArchiveRows(scene.archive),
    said: describeRun(stdout, stderr),
  };
}

function describeRun(stdout: string, stderr: string): string {
  const reuse = `${stdout}${stderr}`.includes('the stored summaries were used') ? ' (stored summaries)' : '';
  if (stdout.includes('[Context Summary')) return `compacted${reuse}`;
  if (stdout === '') return stderr.split(': ')[1] ?? '';
  const { schema, result, reason } = JSON.parse(stdout);
  if (schema === 'compact/restore@1') return 'restored';
  return `${result}${reason === undefined ? '' : `: ${reason}`}${reuse}`;
}

/** The transcripts of the folder. */
function readTexts({ folder }: Scene): Readonly<Record<string, string>> {
  const all = readdirSync(folder);
  // In the moment without a file it stands under a hidden name, from which every command brings it back.
  const hidden = new Map(findMovedAside(all).map((name) => [name, all.find((one) => one.endsWith(`=${name}.old`))]));
  const names = [...all.filter((name) => name !== 'archive' && !isLeftover(name)), ...hidden.keys()];
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, hidden.get(name) ?? name), 'utf8')]));
}

function isLeftover(name: string): boolean {
  return name.startsWith('.compact-');
}
