import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { text as readText } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { serveMockModel } from './mock-model.ts';
import type { OfflineCommand } from './offline.ts';

/** Runs one command beside a mock of its model: the command comes as JSON on stdin, how it went goes to stdout. */

/** Programs want two presses within a second or so, and none while they answer. */
const PRESS_MS = 700;
/** It may ask for a title first. */
const WAITED_TICKS = 4;
/**
 * A program that has drawn its screen and asks nothing for so long waits for a prompt: OpenCode takes none with a session, and loads for a minute
 * offline.
 */
const IDLE_TICKS = 110;
const CAPTURE_TRIES = 60;

const { command, args, cwd, env, timeoutMs, onTerminalUntil }: OfflineCommand = JSON.parse(
  await readText(process.stdin),
);
const model = await serveMockModel();
const fill = (text: string): string => text.replaceAll('MODEL_URL', model.url);
const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]));
const filledArgs = args.map(fill);
const [program, ...words] =
  onTerminalUntil === undefined
    ? [command, ...filledArgs]
    : ['script', '-qefc', `stty cols 100 rows 30; exec ${[command, ...filledArgs].map(quote).join(' ')}`, '/dev/null'];
const child = spawn(program, words, {
  cwd,
  env: { PATH: process.env['PATH'], TERM: onTerminalUntil === undefined ? 'dumb' : 'xterm-256color', ...filled },
  timeout: timeoutMs,
  killSignal: 'SIGKILL',
});
if (onTerminalUntil === undefined) child.stdin.end();
else sitAt(onTerminalUntil);
const [stdout, stderr, [code]] = await Promise.all([
  readText(child.stdout),
  readText(child.stderr),
  once(child, 'close'),
]);
// The first process of a namespace takes all others with it: what a hook archives in the background would be killed.
for (let tries = 0; process.pid === 1 && tries < CAPTURE_TRIES && isCapturing(); tries += 1) await setTimeout(250);
model.close();
process.stdout.write(JSON.stringify({ code, stdout, stderr, asked: model.asked }));

function isCapturing(): boolean {
  return globSync('/proc/[0-9]*/cmdline').some((path) => {
    try {
      return readFileSync(path, 'utf8').includes('\0capture\0--quiet\0');
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Answers what a program asks its terminal, and presses Ctrl-C when the model was asked. */
function sitAt(words: string): void {
  const type = (keys: string): void => void child.stdin.write(keys);
  child.stdin.on('error', () => undefined);
  let isDrawn = false;
  child.stdout.on('data', (data: Buffer) => {
    isDrawn ||= data.includes('\u001b[?1049h');
    if (data.includes('\u001b[6n')) type('\u001b[1;1R');
    if (data.includes('\u001b[c')) type('\u001b[?62c');
  });
  let [ticks, idle] = [0, 0];
  const timer = setInterval(() => {
    if (model.asked.some(({ body }) => body.includes(words))) ticks += 1;
    else if (isDrawn && (idle += 1) >= IDLE_TICKS) type(idle === IDLE_TICKS ? words : '\r');
    if (ticks > WAITED_TICKS) type('\u0003');
  }, PRESS_MS);
  child.on('close', () => clearInterval(timer));
}
