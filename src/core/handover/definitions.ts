import type { CompletedCall } from './calls.ts';
import { baseName, declaredName, type FileChange } from './files.ts';
import { type HandoverLine, quoted, splitLines } from './line.ts';
import { LINE_NUMBER, readableText } from './tool-result.ts';
import type { Conversation } from './turns.ts';

/** A name as programs have them: camel case, snake case or capitals. */
export const NAME = /\b(?:[A-Za-z]+[a-z\d][A-Z]\w*|\w+_\w+|[A-Z]{3,}\w*)\b/g;
const MAX_PROSE_CHARS = 200_000;

/** The names that people and the assistant use in their words, those that were used last at the end. */
export function namesMentioned({ turns }: Conversation): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { request, steps } of turns) {
    for (const step of request === null ? steps : [request, ...steps]) {
      if (step.kind !== 'said' && step.kind !== 'request') continue;
      for (const [name] of step.text.slice(0, MAX_PROSE_CHARS).matchAll(NAME)) {
        names.delete(name);
        names.add(name);
      }
    }
  }
  return names;
}

/** The place of a line that a search found. */
export const PLACE = /^([\w@./\\-]+\.\w{1,8})[:-]\d+[:-]\s*/;
/** A file of code: what a page or a log calls a type or a message declares nothing. */
export const IS_FILE = /^[^\s*?|()]+\.(?!(?:md|mdx|txt|rst|log|jsonl?)$)\w{1,8}$/;
const MAX_READ_CHARS = 60_000;
const MAX_NAMES = 24;
const HEAD = 'Where names that were used last are defined: ';

/** In which files, read and not changed, the names are defined that people and the assistant used last: at most one line. */
export function definitionLines(
  conversation: Conversation,
  {
    calls,
    files,
    mentioned,
    maxChars,
  }: {
    readonly calls: readonly CompletedCall[];
    readonly files: readonly FileChange[];
    readonly mentioned: ReadonlySet<string>;
    readonly maxChars: number;
  },
): readonly HandoverLine[] {
  const callOf = new Map(calls.map((done) => [done.result, done]));
  const changed = new Set(files.map(({ path }) => baseName(path)));
  // A name that several files declare is local to each.
  const fileOf = new Map<string, string | null>();
  for (const { steps } of conversation.turns) {
    for (const step of steps) {
      const target = step.kind === 'result' ? callOf.get(step)?.call.target : undefined;
      if (step.kind !== 'result' || target === undefined) continue;
      const source = baseName(target ?? '');
      for (const line of splitLines(readableText(step.text, MAX_READ_CHARS))) {
        const place = PLACE.exec(line);
        const file = place === null ? source : baseName(place[1] ?? '');
        if (!IS_FILE.test(file)) continue;
        const name = declaredName(
          (place === null ? line.replace(LINE_NUMBER, '') : line.slice(place[0].length)).trim(),
        );
        if (name === null || !mentioned.has(name)) continue;
        const known = fileOf.get(name);
        fileOf.set(name, changed.has(file) || (known !== undefined && known !== file) ? null : file);
      }
    }
  }
  const newest = [...mentioned].toReversed().filter((name) => typeof fileOf.get(name) === 'string');
  const byFile = Map.groupBy(newest.slice(0, MAX_NAMES), (name) => fileOf.get(name) ?? '');
  let text = HEAD;
  for (const [file, names] of byFile) {
    const next = `${text === HEAD ? '' : '; '}\`${quoted(file)}\`: ${names.map((name) => `\`${name}\``).join(', ')}`;
    if (text.length + next.length >= maxChars) continue;
    text += next;
  }
  return text === HEAD ? [] : [{ text, messageIds: [] }];
}
