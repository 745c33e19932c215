import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import { serveMockModel } from './mock-model.ts';
import type { OfflineCommand } from './offline.ts';

/** Runs one command beside a mock of its model: the command comes as JSON on stdin, how it went goes to stdout. */

const { command, args, cwd, env, timeoutMs }: OfflineCommand = JSON.parse(await readText(process.stdin));
const model = await serveMockModel();
const fill = (text: string): string => text.replaceAll('MODEL_URL', model.url);
const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]));
const child = spawn(command, args.map(fill), {
  cwd,
  env: { PATH: process.env['PATH'], TERM: 'dumb', ...filled },
  stdio: ['ignore', 'pipe', 'pipe'],
  timeout: timeoutMs,
  killSignal: 'SIGKILL',
});
const [stdout, stderr, [code]] = await Promise.all([
  readText(child.stdout),
  readText(child.stderr),
  once(child, 'close'),
]);
model.close();
process.stdout.write(JSON.stringify({ code, stdout, stderr, asked: model.asked }));
