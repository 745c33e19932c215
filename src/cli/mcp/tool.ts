import type { z } from 'zod';
import type { Result } from '../../core/result.ts';

/** The same content twice: some clients give the model the text, others only the data. */
export type ToolAnswer = { readonly text: string; readonly data: Readonly<Record<string, unknown>> };

/** The result of a call; the error tells the model what is wrong and what to try. */
export type ToolOutcome = Promise<Result<ToolAnswer, string>>;

/** What a client may show its user before a call. */
type ToolHints = {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** Whether it uses anything beyond this machine. */
  readonly openWorldHint: boolean;
};

/** Of a tool that only looks things up in the archive. */
export const READS_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true } as const;

/** A tool as data: all that the protocol layer needs. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  /** For the model that decides whether to call the tool. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly hints: ToolHints;
  /** False: the tool is not listed, and the answer to a call says how to enable it. */
  readonly isOffered: boolean;
  readonly call: (args: unknown, signal: AbortSignal) => ToolOutcome;
};

export function defineTool<Input extends z.ZodObject>({
  call,
  ...tool
}: Omit<Tool, 'input' | 'call'> & {
  readonly input: Input;
  readonly call: (args: z.output<Input>, signal: AbortSignal) => ToolOutcome;
}): Tool {
  return { ...tool, call: (args, signal) => call(tool.input.parse(args), signal) };
}

/** Characters of an answer. Clients cut longer ones anywhere (Claude Code at 25,000 tokens), and they take room in the context. */
export const MAX_ANSWER_CHARS = 20_000;

/** An id, a name or a path may be of any length; nobody needs more of it than this. */
const MAX_FIELD_CHARS = 300;

export function clipField<T extends string | null>(field: T): T | string {
  return field === null || field.length <= MAX_FIELD_CHARS ? field : `${takeChars(field, MAX_FIELD_CHARS)}…`;
}

/** The first UTF-16 units of a text, without splitting a surrogate pair. */
export function takeChars(text: string, count: number): string {
  if (text.length <= count) return text;
  const partsPair = (text.codePointAt(count - 1) ?? 0) > 0xffff;
  return text.slice(0, partsPair && count > 1 ? count - 1 : count);
}
