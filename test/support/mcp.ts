import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { type Ended, endOf, jsonLines, type ProcessOptions, runHere, startProcess } from './program.ts';

export type ToolResult = {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
};

/** What the server says to a request. */
export type Answer = {
  readonly id: string | number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
};

export type ToolCall = readonly [name: string, args: Readonly<Record<string, unknown>>];

const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'raw lines', version: '1' },
};

export function requestLine(id: string | number, method: string, params: unknown = {}): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
}

export const OPENING = `${requestLine('init', 'initialize', INITIALIZE)}${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`;

/** A whole conversation in this process: these lines come in, and then the input ends. */
export async function converse(
  args: readonly string[],
  lines: string,
): Promise<Ended & { readonly answers: ReadonlyMap<string | number, Answer> }> {
  const ended = await runHere(['mcp', ...args], OPENING + lines);
  return { ...ended, answers: new Map(readAnswers(ended.stdout).map((answer) => [answer.id, answer])) };
}

/** Every line of the output as JSON: anything else on it is an error. */
export function readAnswers(stdout: string): readonly Answer[] {
  return jsonLines(stdout);
}

/** Calls tools in one conversation in this process; gives their results in the order of the calls. */
export async function callTools(
  args: readonly string[],
  ...calls: readonly ToolCall[]
): Promise<readonly ToolResult[]> {
  const lines = calls.map(([name, given], at) => requestLine(at, 'tools/call', { name, arguments: given }));
  const { answers, stderr } = await converse(args, lines.join(''));
  return calls.map((_, at) => resultOf(answers.get(at), stderr));
}

export async function callTool(args: readonly string[], ...call: ToolCall): Promise<ToolResult> {
  const [result] = await callTools(args, call);
  assert.ok(result);
  return result;
}

function resultOf(answer: Answer | undefined, stderr: string): ToolResult {
  assert.ok(answer?.result, JSON.stringify(answer) + stderr);
  const { content, structuredContent, isError } = Object(answer.result);
  return { content, ...(structuredContent && { structuredContent }), ...(isError && { isError }) };
}

export function textOf({ content }: ToolResult): string {
  return content.map(({ text }) => text).join('\n');
}

export type Conversation = {
  readonly child: ChildProcess;
  readonly write: (line: string) => void;
  readonly ask: (method: string, params?: unknown) => Promise<Answer>;
  readonly call: (...call: ToolCall) => Promise<ToolResult>;
  readonly end: () => Promise<Ended>;
  readonly ended: Promise<Ended>;
};

/** A conversation with a process of its own, opened. */
export async function startMcp(
  t: TestContext,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<Conversation> {
  const child = startProcess(['mcp', ...args], { stdio: ['pipe', 'pipe', 'pipe'], ...options });
  t.after(() => child.kill('SIGKILL'));
  const { stdin, stdout } = child;
  assert.ok(stdin && stdout);
  stdin.on('error', () => undefined);
  const waiting = new Map<string | number, (answer: Answer) => void>();
  createInterface({ input: stdout }).on('line', (line) => {
    const answer: Answer = JSON.parse(line);
    waiting.get(answer.id)?.(answer);
  });
  const ended = endOf(child);
  const write = (line: string): void => void stdin.write(line);
  const ids = { next: 1 };
  const ask = (method: string, params?: unknown): Promise<Answer> => {
    const id = ids.next;
    ids.next += 1;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    write(requestLine(id, method, params));
    return promise;
  };
  await ask('initialize', INITIALIZE);
  return {
    child,
    write,
    ask,
    call: async (name, given) => resultOf(await ask('tools/call', { name, arguments: given }), ''),
    end: () => {
      stdin.end();
      return ended;
    },
    ended,
  };
}
