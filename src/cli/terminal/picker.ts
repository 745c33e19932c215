import { isCi } from '../render/theme.ts';
import type { Terminal } from './terminal.ts';

export type Choice<T> = { readonly value: T; readonly label: string; readonly hint: string };

/** Whether a person can be asked: somebody sits at the terminal and sees what is printed. */
export function canAsk({ stdin, stderr, host }: Terminal): boolean {
  return stdin.kind === 'terminal' && stderr.isTerminal && !isCi(host.environment['CI'] ?? '');
}

/** Lets a person choose one; typing filters them. Null: none was chosen. The list is shown on stderr, so that stdout stays the answer. */
export async function pick<T>(
  { signal, dialog }: Pick<Terminal, 'signal' | 'dialog'>,
  message: string,
  choices: readonly Choice<T>[],
): Promise<T | null> {
  const { autocomplete, isCancel } = await import('@clack/prompts');
  const chosen = await autocomplete({
    message,
    options: choices.map(({ label, hint }, value) => ({ value, label, hint })),
    filter: (search, { label = '', hint = '' }) => matchesAll(`${label} ${hint}`, search.split(/\s+/)),
    maxItems: MAX_SHOWN,
    placeholder: 'type to filter',
    ...dialog(),
    signal,
  });
  return isCancel(chosen) ? null : (choices[chosen]?.value ?? null);
}

const MAX_SHOWN = 12;

/** Whether a text contains all of these words, in any order and case. */
export function matchesAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word.toLowerCase()));
}
