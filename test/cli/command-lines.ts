import assert from 'node:assert/strict';
import type { Invocation } from '../../src/cli/invocation.ts';
import { parseArguments, type ProgramFacts } from '../../src/cli/program.ts';

export const FACTS: ProgramFacts = {
  version: '1.2.3',
  widthColumns: 80,
  hasInput: false,
  nowMs: Date.parse('2026-03-09T15:20:00Z'),
};

/** What a correct command line asks for. */
export async function parsed(...argv: readonly string[]): Promise<Invocation> {
  const result = await parseArguments(argv, FACTS);
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

/** What is said about a wrong one. */
export async function refused(...argv: readonly string[]): Promise<string> {
  const result = await parseArguments(argv, FACTS);
  assert.ok(!result.ok, JSON.stringify(result));
  return result.error.message;
}
