import type { CompletedCall } from './calls.ts';
import { lazily } from '../lazy.ts';
import { splitLines } from './line.ts';
import { LINE_NUMBER, readableText } from './tool-result.ts';

/** A file of code: what a page or a log calls a type or a message declares nothing. */
export const IS_FILE = /^[^\s*?|()]+\.(?!(?:md|mdx|txt|rst|log|jsonl?)$)\w{1,8}$/;

const MAX_READ_CHARS = 200_000;
/** The newest readings of a file. */
const MAX_SHOWN = 8;
/** What a variable or a type encloses is named by the function around it. */
const NAMES_NO_PLACE = /^(?:export |default |declare |static |readonly )*(?:const|type|object|message|service)\b/;

/** A file, or a part of it, as a call showed it. */
type Shown = () => { readonly lines: readonly string[]; readonly placeOf: ReadonlyMap<string, number> };

/** By path, the functions and classes in which edits changed something, as far as the file was read before. In the order of the edits. */
export function editedPlaces(calls: readonly CompletedCall[]): ReadonlyMap<string, ReadonlySet<string>> {
  const places = new Map<string, Set<string>>();
  const shownOf = new Map<string, Shown[]>();
  const edited = new Set(calls.flatMap(({ call }) => call.edits.map(({ path }) => path)));
  for (const { call, result, hasFailed } of calls) {
    if (hasFailed) continue;
    if (call.command === null && call.target !== null && call.edits.length === 0 && edited.has(call.target)) {
      const show = lazily(() => shownIn(result?.text ?? ''));
      shownOf.set(call.target, [show, ...(shownOf.get(call.target) ?? [])].slice(0, MAX_SHOWN));
    }
    for (const { path, before, after, kind } of call.edits) {
      if (kind !== 'part') continue;
      const [old, written] = [trimmedLines(before), trimmedLines(after)];
      const gone = old.filter((line) => !written.includes(line));
      // What is only put in stands near what was there, unless it is a function of its own.
      const isNew = gone.length === 0 && written.some((line) => !old.includes(line) && declaredName(line) !== null);
      const name = isNew ? null : enclosingName(gone.length > 0 ? gone : old, shownOf.get(path) ?? []);
      if (name === null) continue;
      const names = places.get(path) ?? new Set();
      places.set(path, names.add(name));
    }
  }
  return places;
}

/** The lines of a file, with one that is in nothing where others are left out. */
function shownIn(text: string): ReturnType<Shown> {
  let last = 0;
  const lines = splitLines(readableText(text.slice(0, MAX_READ_CHARS), MAX_READ_CHARS)).flatMap((line) => {
    const [mark] = LINE_NUMBER.exec(line) ?? [];
    if (mark === undefined) return [line];
    const isNext = parseInt(mark, 10) === last + 1;
    last = parseInt(mark, 10);
    return isNext ? [line.slice(mark.length)] : ['…', line.slice(mark.length)];
  });
  // The first of equal lines would be a guess.
  const placeOf = new Map<string, number>();
  for (const [at, line] of lines.entries()) placeOf.set(line.trim(), placeOf.has(line.trim()) ? -1 : at);
  return { lines, placeOf };
}

function trimmedLines(text: string): readonly string[] {
  return splitLines(text)
    .slice(0, MAX_EDIT_LINES)
    .map((line) => line.trim());
}

const MAX_EDIT_LINES = 200;
/** Longer functions are not searched for. */
const MAX_LINES_ABOVE = 1_000;

function enclosingName(old: readonly string[], shown: readonly Shown[]): string | null {
  for (const show of shown) {
    const { lines, placeOf } = show();
    const at = old.map((line) => placeOf.get(line) ?? -1).find((place) => place >= 0);
    if (at === undefined) continue;
    // A line is in what begins further left, and a declaration is its own place.
    let indent = indentOf(lines[at]);
    for (let above = at; above >= Math.max(0, at - MAX_LINES_ABOVE) && (above === at || indent > 0); above -= 1) {
      const line = lines[above] ?? '';
      if (above < at && (line.trim() === '' || indentOf(line) >= indent)) continue;
      indent = indentOf(line);
      const name = declaredName(line.trim());
      if (name !== null && !NAMES_NO_PLACE.test(line.trim())) return name;
    }
  }
  return null;
}

function indentOf(line = ''): number {
  return line.search(/\S/);
}

/** Words before a name that say that a line declares it, in the languages that agents write most. */
const DECLARED =
  /^(?:export |default |pub(?:\(\w+\))? |public |private |protected |internal |static |async |abstract |final |override |open |inline |unsafe |declare )*(?:func(?:tion)?\*?|fn|def|class|interface|struct|enum|type|trait|impl|record|protocol|module|namespace|object|const|CREATE (?:TABLE|INDEX|VIEW)|message|service)\s+(?:\([^)]{0,60}\)\s*)?["'`]?([A-Za-z_$][\w$.]{2,})/;

export function declaredName(line: string): string | null {
  return DECLARED.exec(line)?.[1] ?? null;
}
