import type { ArchiveDamageKind, CompactionDraft } from '../../../ports/archive.ts';
import { describeDamage } from '../failure.ts';

/** One thing that is wrong, and what it affects directly. */
export type Finding = {
  readonly kind: ArchiveDamageKind;
  readonly message: string;
  readonly compactionIds: readonly number[];
  /** Captured ones. */
  readonly files?: readonly string[];
};

/** Where a check looks; `name` starts its messages. */
export type Place = Omit<Finding, 'kind' | 'message'> & { readonly name: string };

export function finding(kind: ArchiveDamageKind, { name, ...affected }: Place, what: string): Finding {
  return { kind, message: `${name}: ${what}`, ...affected };
}

/** A place that no compaction owns. */
export function nowhere(name: string): Place {
  return { name, compactionIds: [] };
}

/** Reads one thing; `damage`: why it cannot be read. */
export async function tryRead<T>(
  read: () => Promise<T>,
): Promise<{ readonly value: T; readonly damage: null } | { readonly value: null; readonly damage: string }> {
  try {
    return { value: await read(), damage: null };
  } catch (error) {
    const damage = describeDamage(error);
    if (damage === null) throw error;
    return { value: null, damage };
  }
}

/** Checks one thing. If it cannot be read, that is a finding, and the check goes on. */
export async function* attempt<T = Finding>(
  place: Place,
  inspect: () => AsyncIterable<T> | Iterable<T>,
): AsyncGenerator<T | Finding> {
  try {
    yield* inspect();
  } catch (error) {
    const damage = describeDamage(error);
    if (damage === null) throw error;
    yield finding('unreadable', place, damage);
  }
}

/** What a check has counted so far. */
export type Totals = Record<
  'compactions' | 'batches' | 'captured' | 'lines' | 'blocks' | 'original' | 'compressed',
  number
>;

/** A compaction's own row, as far as the check needs it. */
export type Head = Pick<CompactionDraft, 'source' | 'output'> & {
  readonly id: number;
  readonly place: Place;
  readonly isPrepared: boolean;
};

export function placeOf(compactionId: number): Place {
  return { name: `compaction ${compactionId}`, compactionIds: [compactionId] };
}

/** A part of a place. */
export function partOf(place: Place, part: string): Place {
  return { ...place, name: `${place.name}, ${part}` };
}
