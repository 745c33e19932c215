import { type CallToolResult, McpServer, type Tool as ListedTool } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { MAX_ANSWER_CHARS, takeChars, type Tool } from './tool.ts';
import { clipEcho, createWire, type WireOptions } from './wire.ts';

export type ServeOptions = WireOptions & {
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** Called with an unexpected exception; returns what the model is told. */
  readonly onBug: (error: unknown) => string;
};

/** Speaks the Model Context Protocol until the input has ended and every request is answered, the reader is gone, or the signal comes. */
export async function serve(options: ServeOptions): Promise<void> {
  const { signal, notice } = options;
  const running = new Set<Promise<unknown>>();
  const { transport, ended, close } = createWire(options);
  const createServer = (): McpServer => buildServer(options, running);
  const handle = serveStdio(createServer, { transport, onerror: ({ message }) => notice(clipEcho(message)) });
  signal.addEventListener('abort', close);
  await ended;
  signal.removeEventListener('abort', close);
  await handle.close();
  // A running call finishes its work on files and the archive.
  await Promise.allSettled(running);
}

function buildServer(options: ServeOptions, running: Set<Promise<unknown>>): McpServer {
  const { version, instructions, tools } = options;
  const server = new McpServer(
    { name: 'compact', title: 'compact: past conversations', version },
    { instructions, capabilities: { tools: { listChanged: false } } },
  );
  for (const tool of tools) {
    const { name, title, description, input, hints } = tool;
    const config = { title, description, inputSchema: input, annotations: hints };
    server.registerTool(name, config, async (args, { mcpReq }) => {
      const answer = callTool(tool, { args, signal: AbortSignal.any([options.signal, mcpReq.signal]), options });
      running.add(answer);
      return answer.finally(() => running.delete(answer));
    });
  }
  // A tool that is not offered can still be called: the answer then says what to do.
  server.server.setRequestHandler('tools/list', () => ({
    tools: tools.filter(({ isOffered }) => isOffered).map(listTool),
  }));
  return server;
}

const JSON_FIELDS = z.record(z.string(), z.json());

function listTool({ name, title, description, input, hints }: Tool): ListedTool {
  const schema = JSON_FIELDS.parse(z.toJSONSchema(input, { io: 'input' }));
  return { name, title, description, inputSchema: { ...schema, type: 'object' }, annotations: { ...hints } };
}

type Call = { readonly args: unknown; readonly signal: AbortSignal; readonly options: ServeOptions };

async function callTool(tool: Tool, { args, signal, options }: Call): Promise<CallToolResult> {
  try {
    const outcome = await tool.call(args, signal);
    if (!outcome.ok) return failed(outcome.error);
    const { text, data } = outcome.value;
    return { content: [{ type: 'text', text }], structuredContent: { ...data } };
  } catch (error) {
    // Errors while aborting are expected, and nobody waits for the answer.
    return failed(signal.aborted ? 'interrupted' : options.onBug(error));
  }
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text: takeChars(text, MAX_ANSWER_CHARS) }], isError: true };
}
