import { safeText } from './safe-text.ts';

/** An exception that nobody expected: a bug, shown with its stack. Every expected failure has a sentence of its own. */
export function renderBug(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? String(error)) : `thrown: ${String(error)}`;
  const lines = stack.split('\n').map(safeText);
  return `This is a bug in compact; please report it with these lines:\n${lines.join('\n')}\n`;
}
