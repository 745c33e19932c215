import assert from 'node:assert/strict';
import { parseArguments, type ProgramFacts } from '../../src/cli/line/parse.ts';

export const FACTS: ProgramFacts = {
  version: '1.2.3',
  widthColumns: 80,
  program: () => 'compact',
  hasInput: false,
  nowMs: Date.parse('2026-03-09T15:20:00Z'),
};

/** What a correct command line asks for. */
export async function parsed(...argv: readonly string[]): Promise<unknown> {
  return requestOf(argv, FACTS);
}

/** What a command line asks for, without the function that does it. */
export async function requestOf(argv: readonly string[], facts: ProgramFacts): Promise<unknown> {
  const result = await parseArguments(argv, facts);
  assert.ok(result.ok, JSON.stringify(result));
  return result.value.kind === 'command' ? result.value.line : result.value;
}

/** The help that a command line prints. */
export async function helpOf(argv: readonly string[], facts: Partial<ProgramFacts> = {}): Promise<string> {
  const result = await parseArguments(argv, { ...FACTS, ...facts });
  assert.ok(result.ok && result.value.kind === 'help', JSON.stringify(result));
  return result.value.text;
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
