import type { ArchiveDamageKind } from '../../../ports/archive-check.ts';
import { describeDamage } from '../failure.ts';

/** One thing that is wrong, and the compactions that it touches first. */
export type Finding = {
  readonly kind: ArchiveDamageKind;
  readonly message: string;
  readonly compactionIds: readonly number[];
};

/** Where a check looks: `name` begins its messages. */
export type Place = { readonly name: string; readonly compactionIds: readonly number[] };

export function finding(kind: ArchiveDamageKind, { name, compactionIds }: Place, what: string): Finding {
  return { kind, message: `${name}: ${what}`, compactionIds };
}

/** Reads one thing; where it cannot be read, `value` is null, and that is what was found. */
export function tryRead<T>(
  place: Place,
  read: () => T,
): { readonly value: T | null; readonly findings: readonly Finding[] } {
  try {
    return { value: read(), findings: [] };
  } catch (error) {
    const damage = describeDamage(error);
    if (damage === null) throw error;
    return { value: null, findings: [finding('unreadable', place, damage)] };
  }
}

/** Looks at one thing; where it cannot be read, that is what was found, and the check goes on behind it. */
export function* attempt<T = Finding>(place: Place, look: () => Iterable<T>): Generator<T | Finding> {
  try {
    yield* look();
  } catch (error) {
    const damage = describeDamage(error);
    if (damage === null) throw error;
    yield finding('unreadable', place, damage);
  }
}
