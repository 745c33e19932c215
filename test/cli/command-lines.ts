import assert from 'node:assert/strict';
import { parseArguments, type Parsed } from '../../src/cli/command-line.ts';
import type { Invocation } from '../../src/cli/commands/table.ts';
import type { ProgramFacts } from '../../src/cli/program.ts';

export const FACTS: ProgramFacts = {
  version: '1.2.3',
  widthColumns: 80,
  hasInput: false,
  nowMs: Date.parse('2026-03-09T15:20:00Z'),
};

/** What a correct command line asks for. */
export async function parsed(...argv: readonly string[]): Promise<Request> {
  return requestOf(argv, FACTS);
}

export type Request = Invocation | Exclude<Parsed, { readonly kind: 'command' }>;

/** What a command line asks for, without the function that does it. */
export async function requestOf(argv: readonly string[], facts: ProgramFacts): Promise<Request> {
  const result = await parseArguments(argv, facts);
  assert.ok(result.ok, JSON.stringify(result));
  return result.value.kind === 'command' ? result.value.request : result.value;
}

/** The words that may have been meant as a command. */
export async function openWords(...argv: readonly string[]): Promise<readonly string[]> {
  const result = await parseArguments(argv, FACTS);
  assert.ok(result.ok && result.value.kind === 'command', JSON.stringify(result));
  return result.value.openWords;
}

/** What is said about a wrong one. */
export async function refused(...argv: readonly string[]): Promise<string> {
  const result = await parseArguments(argv, FACTS);
  assert.ok(!result.ok, JSON.stringify(result));
  return result.error.message;
}
