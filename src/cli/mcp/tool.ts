import type { z } from 'zod';
import type { Result } from '../../core/result.ts';

/** The same twice: one client hands the text to its model, another the data and nothing else. */
export type ToolAnswer = { readonly text: string; readonly data: Readonly<Record<string, unknown>> };

/** What a call comes to; the error says what is wrong and what to try, to the model that called. */
export type ToolOutcome = Promise<Result<ToolAnswer, string>>;

/** What a client may show and ask its user about before it calls. */
type ToolHints = {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** Whether it deals with more than this machine. */
  readonly openWorldHint: boolean;
};

/** A tool as data: the protocol knows only this of it. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  /** For the model that decides whether to call it. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly hints: ToolHints;
  /** False: it is not listed, and a call is answered with what to do. */
  readonly isOffered: boolean;
  readonly call: (args: unknown, signal: AbortSignal) => ToolOutcome;
};

type Definition<Input extends z.ZodObject> = Omit<Tool, 'input' | 'call'> & {
  readonly input: Input;
  readonly call: (args: z.output<Input>, signal: AbortSignal) => ToolOutcome;
};

export function defineTool<Input extends z.ZodObject>(definition: Definition<Input>): Tool {
  const { input, call } = definition;
  return { ...definition, call: (args, signal) => call(input.parse(args), signal) };
}

/** Characters of an answer. Clients cut longer ones where they please (Claude Code at 25,000 tokens), and take room for them from the work. */
export const MAX_ANSWER_CHARS = 20_000;

/** A conversation's id, a name or a path may be of any length; what is longer tells nobody more. */
const MAX_FIELD_CHARS = 300;

export function clipField<T extends string | null>(field: T): T | string {
  return field === null || field.length <= MAX_FIELD_CHARS ? field : `${takeChars(field, MAX_FIELD_CHARS)}…`;
}

/** The first UTF-16 units of a text, no pair of them parted. */
export function takeChars(text: string, count: number): string {
  if (text.length <= count) return text;
  return text.slice(0, isPairAt(text, count - 1) && count > 1 ? count - 1 : count);
}

function isPairAt(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}
