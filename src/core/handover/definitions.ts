import type { CompletedCall } from './calls.ts';
import { baseName, type FileChange } from './files.ts';
import { declaredName, IS_FILE } from './places.ts';
import { type HandoverLine, quoted, splitLines } from './line.ts';
import { LINE_NUMBER, readableText } from './tool-result.ts';
import type { Conversation } from './turns.ts';

/** A name as programs have them: camel case, snake case or capitals. */
const NAME = /\b(?:[A-Za-z]+[a-z\d][A-Z]\w*|\w+_\w+|[A-Z]{3,}\w*)\b/g;
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
const PLACE = /^([\w@./\\-]+\.\w{1,8})[:-]\d+[:-]\s*/;
const MAX_READ_CHARS = 60_000;
const MAX_NAMES = 24;
const MAX_CODE_CHARS = 140;
const HEAD = 'Definitions, in files that were read, of names that were used last:';

/** How files that were read and not changed define the names that people and the assistant used last: a line a file. */
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
  const found = new Map<string, { readonly file: string; readonly code: string } | null>();
  for (const { steps } of conversation.turns) {
    for (const step of steps) {
      const target = step.kind === 'result' ? callOf.get(step)?.call.target : undefined;
      if (step.kind !== 'result' || target === undefined) continue;
      const source = baseName(target ?? '');
      for (const line of splitLines(readableText(step.text, MAX_READ_CHARS))) {
        const place = PLACE.exec(line);
        const file = place === null ? source : baseName(place[1] ?? '');
        if (!IS_FILE.test(file)) continue;
        const code = (place === null ? line.replace(LINE_NUMBER, '') : line.slice(place[0].length)).trim();
        const name = declaredName(code);
        if (name === null || !mentioned.has(name)) continue;
        const known = found.get(name);
        const isElsewhere = changed.has(file) || (known !== undefined && known?.file !== file);
        found.set(name, isElsewhere ? null : { file, code: definitionText(code, name) });
      }
    }
  }
  const newest = [...mentioned].toReversed().flatMap((name) => found.get(name) ?? []);
  const lines: string[] = [];
  let left = maxChars - HEAD.length - 1;
  for (const [file, definitions] of Map.groupBy(newest.slice(0, MAX_NAMES), (one) => one.file)) {
    let text = `- \`${quoted(file)}\`:`;
    for (const { code } of definitions) {
      const next = `${text.endsWith(':') ? '' : ','} \`${quoted(code)}\``;
      if (text.length + next.length < left) text += next;
    }
    if (text.endsWith(':')) continue;
    left -= text.length + 1;
    lines.push(text);
  }
  return lines.length === 0 ? [] : [HEAD, ...lines].map((text) => ({ text, messageIds: [] }));
}

/** The line of code that defines a name, or the name alone. */
function definitionText(code: string, name: string): string {
  const text = code.replace(/\s*[{:;,]+$/, '');
  return text.length > MAX_CODE_CHARS || text.includes('`') ? name : text;
}
