/** Edits within the JSON of a line. A line that is no JSON, or too large or deep to be edited in good time, stays as it is. */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Place = readonly (string | number)[];

const MAX_EDITED_BYTES = 200_000;
const MAX_PLACES = 400;
const MAX_DEPTH = 30;
/** Stands for a value until it is replaced by text that JSON.stringify would not write. */
const MARK = '\u0001here\u0001';
const WRITTEN_MARK = JSON.stringify(MARK);

export function setValue(line: Buffer, { place, json }: { readonly place: number; readonly json: string }): Buffer {
  const value = parse(line);
  if (value === undefined) return line;
  const places = listPlaces(value);
  const chosen = places[place % places.length] ?? [];
  const text = JSON.stringify(replaceAt(value, chosen, MARK));
  return Buffer.from(text.replace(WRITTEN_MARK, () => json));
}

/** A value of one line takes the place of the value with the same key in another: ids, parents, times, roles. */
export function borrowValue(line: Buffer, from: Buffer, place: number): Buffer {
  const value = parse(line);
  const other = parse(from);
  if (value === undefined || other === undefined) return line;
  const places = listPlaces(value);
  const chosen = places[place % places.length] ?? [];
  const key = chosen.at(-1);
  const source = listPlaces(other).find((one) => one.at(-1) === key);
  if (source === undefined) return line;
  const text = JSON.stringify(replaceAt(value, chosen, MARK));
  return Buffer.from(text.replace(WRITTEN_MARK, () => JSON.stringify(valueAt(other, source)) ?? 'null'));
}

export function nestValue(
  line: Buffer,
  { place, depth, isList }: { readonly place: number; readonly depth: number; readonly isList: boolean },
): Buffer {
  const json = isList
    ? `${'['.repeat(depth)}${']'.repeat(depth)}`
    : `${'{"input":'.repeat(depth)}1${'}'.repeat(depth)}`;
  return setValue(line, { place, json });
}

const FILLER = 'The quick brown fix of parser.ts failed: why? We agreed on port 8080. ';

export function growValue(
  line: Buffer,
  { place, sizeBytes }: { readonly place: number; readonly sizeBytes: number },
): Buffer {
  const text = FILLER.repeat(Math.ceil(sizeBytes / FILLER.length)).slice(0, sizeBytes);
  return setValue(line, { place, json: `"${text}"` });
}

/** First or last, as text: a key may stand twice then. */
export function addMember(
  line: Buffer,
  { member, isFirst }: { readonly member: string; readonly isFirst: boolean },
): Buffer {
  const text = line.toString();
  if (!text.startsWith('{"') || !text.endsWith('}')) return line;
  return Buffer.from(isFirst ? `{${member},${text.slice(1)}` : `${text.slice(0, -1)},${member}}`);
}

function parse(line: Buffer): Json | undefined {
  if (
    line.length > MAX_EDITED_BYTES ||
    line.includes('['.repeat(MAX_DEPTH)) ||
    line.includes('{"input":'.repeat(MAX_DEPTH))
  )
    return undefined;
  try {
    const value: Json = JSON.parse(line.toString());
    return value;
  } catch {
    return undefined; // an earlier edit made it none
  }
}

/** The paths of the values in a value, the root among them. */
function listPlaces(root: Json): readonly Place[] {
  const places: Place[] = [[]];
  for (let at = 0; at < places.length && places.length < MAX_PLACES; at += 1) {
    const place = places[at] ?? [];
    const value = valueAt(root, place);
    if (typeof value !== 'object' || value === null) continue;
    const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
    for (const key of keys) places.push([...place, key]);
  }
  return places;
}

function valueAt(root: Json, place: Place): Json | undefined {
  return place.reduce<Json | undefined>((value, key) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return Object.getOwnPropertyDescriptor(value, key)?.value;
  }, root);
}

function replaceAt(value: Json, [key, ...rest]: Place, replacement: string): Json {
  if (key === undefined) return replacement;
  if (Array.isArray(value)) return value.map((one, index) => (index === key ? replaceAt(one, rest, replacement) : one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, name === key ? replaceAt(one, rest, replacement) : one]),
  );
}
