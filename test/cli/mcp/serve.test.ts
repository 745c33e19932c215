import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { serve } from '../../../src/cli/mcp/serve.ts';
import { defineTool, type Tool, type ToolOutcome } from '../../../src/cli/mcp/tool.ts';
import { OPENING, requestLine } from '../../support/mcp.ts';

const HINTS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

function toolThat(call: (signal: AbortSignal) => ToolOutcome): Tool {
  const common = { name: 'work', title: 'Work', description: 'Works', hints: HINTS, isOffered: true };
  return defineTool({ ...common, input: z.strictObject({}), call: (_args, signal) => call(signal) });
}

/** A server with one tool, which was called. */
function serveCalled(tool: Tool) {
  const input = new PassThrough();
  const interruption = new AbortController();
  const written: string[] = [];
  const bugs: unknown[] = [];
  const served = serve({
    input,
    write: (line) => written.push(line) > 0,
    signal: interruption.signal,
    notice: (sentence) => assert.fail(sentence),
    version: '0',
    instructions: '',
    tools: [tool],
    onBug: (error) => {
      bugs.push(error);
      return 'a bug';
    },
  });
  input.write(OPENING + requestLine(1, 'tools/call', { name: 'work', arguments: {} }));
  return { input, interrupt: () => interruption.abort(), written, bugs, served };
}

test('an interruption is told to a call at work, and it is waited for', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const steps: string[] = [];
  const { served, interrupt, written } = serveCalled(
    toolThat(async (signal) => {
      begin();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      steps.push('cleaned up');
      return { ok: false, error: 'interrupted' };
    }),
  );
  await begun;
  interrupt();
  await served;
  assert.deepEqual([steps, written.length], [['cleaned up'], 1]);
});

test('an exception of a tool is reported as a bug, and the server continues', async () => {
  const broken = new Error('broken');
  const { input, served, written, bugs } = serveCalled(toolThat(() => Promise.reject(broken)));
  input.end(requestLine(2, 'ping'));
  await served;
  const answers = written.map((line) => JSON.parse(line));
  assert.deepEqual(bugs, [broken]);
  assert.deepEqual(answers.find(({ id }) => id === 1)?.result, {
    content: [{ type: 'text', text: 'a bug' }],
    isError: true,
  });
  assert.deepEqual(answers.find(({ id }) => id === 2)?.result, {});
});

test('what is wrong with a call is told no longer than an answer may be', async () => {
  const error = `${'x'.repeat(100_000)}: not in the archive`;
  const { input, served, written } = serveCalled(toolThat(() => Promise.resolve({ ok: false, error })));
  input.end();
  await served;
  const answer = written.map((line) => JSON.parse(line)).find(({ id }) => id === 1);
  assert.deepEqual(answer?.result, { content: [{ type: 'text', text: 'x'.repeat(20_000) }], isError: true });
});
