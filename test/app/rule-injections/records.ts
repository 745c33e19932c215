export type Fields = Readonly<Record<string, unknown>>;

/** A place in a format's files where somebody other than the user writes. */
export type Place = { readonly at: string; readonly records: (text: string) => readonly Fields[] };

/** A format that marks what was typed: how a prompt looks, and where others write. */
export type MarkedFormat = {
  readonly format: string;
  readonly name: string;
  readonly file: (records: readonly Fields[]) => string;
  readonly prompt: (text: string) => readonly Fields[];
  readonly places: readonly Place[];
};

export const lines = (records: readonly Fields[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');
/** Each record names the one before it as its parent. */
export const chained = (records: readonly Fields[], [own, parent]: readonly [string, string]): string =>
  lines(
    records.map((record, at) => ({
      ...record,
      ...(parent in record && { [parent]: at === 0 ? null : records[at - 1]?.[own] }),
    })),
  );
export const text = (words: string): Fields => ({ type: 'text', text: words });
export const AT = '2026-03-02T10:00:00.000Z';

let count = 0;
export const fresh = (): string => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`;
