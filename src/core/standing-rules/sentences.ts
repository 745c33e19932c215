import { type Span, splitSentences } from '../extract/sentence.ts';
import { isAbbreviation, isFunctionWord } from '../languages/detect.ts';
import { hasEnglishWords, isEnglishRule } from './english.ts';
import { readOtherLanguage } from './languages.ts';
import type { Statement } from './overrides.ts';
import { findPasted } from './pasted.ts';

/** The beginning of a sentence is enough to recognize a rule. */
const READ_CHARS = 600;
/** Shorter texts say nothing. One ideograph says more than one letter. */
const MIN_CHARS = 8;
const MIN_WIDE_CHARS = 5;
const PLAIN = /^[\x20-\x7e]*$/;
const WIDE = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/u;

/** A line at least this long may continue on the next one, because people wrap prompts by hand. */
const WRAPPED_CHARS = 48;
/** The maximum number of lines joined into a paragraph. */
const MAX_JOINED = 12;

const FENCE = /^\s*(?:```|~~~)/;
const MARKER = /^[\s>]*(?:[-*+•–—]|\d{1,3}[.)]|\[[ x]\])\s+/u;
/** Pasted output, code, tables and quotations. */
const NOT_PROSE =
  /^\s*(?:>|\||#{1,6}\s|\/\/|[+-]{3}\s|@@ |diff --git|\$ |at \S+ \(|<\/?[a-z!][^>]*>|(?:npm (?:err|warn)|error|warn(?:ing)?|info|debug|fatal|trace|traceback|caused by|e {3})\b[^.!?]{0,40}[:!\]]|\S*(?:error|exception|warning): |\d{4}-\d\d-\d\d[t ]|\d\d:\d\d:\d\d|\[[a-z0-9:. -]+\] |\S+\.[a-z]{1,5}:\d+[:\s]|\S+\.[a-z]{1,5}::|[✓✔✗✘✕×●] |e {3,}\S|={3,} \S|-{3} (?:pass|fail)|(?:pass|fail)(?:\s*$|:\s|\s+\S*[./]\S)|ok\s{2,}\S)|[{};]\s*$|^\s*(?:import|export|const|let|var|def|class|return|function|public|private|if \(|for \(|while \()\s.*[;{(:]\s*$|=>|::|\\n|"\}|\(\)\s*\{/iu;

/**
 * The sentences of a typed text that state a standing rule, or a permission that may revoke one. In order, each on one line. Takes linear
 * time.
 */
export function findRuleSentences(text: string): readonly Statement[] {
  return [...proseParagraphs(text)].flatMap((paragraph) => {
    const isQuoted = createQuotationTest(paragraph);
    const found: Statement[] = [];
    const spans = splitSentences(paragraph, { start: 0, end: paragraph.length });
    for (let at = 0; at < spans.length; at += 1) {
      const { start = 0, end = 0 } = spans[at] ?? {};
      if (isQuoted(start)) continue;
      const kind = kindOf(plainText(paragraph.slice(start, end)));
      if (kind === null || (kind === 'permission' && end - start > READ_CHARS)) continue;
      while (isBrokenOff(paragraph, { from: spans[at], next: spans[at + 1] })) at += 1;
      found.push({ text: paragraph.slice(start, spans[at]?.end), isPermission: kind === 'permission' });
    }
    return found;
  });
}

/** A full stop after these rather ends an abbreviation or an ordinal. A rule that was cut there could say the opposite. */
const ABBREVIATED = /(?:^|[^\p{L}\p{N}])(?:\p{N}+|(\p{L}{1,6}|\p{L}+(?:\.\p{L}+)+))\.$/u;
const MAX_LAST_WORD = 20;

function isBrokenOff(
  text: string,
  { from, next }: { readonly from: Span | undefined; readonly next: Span | undefined },
): boolean {
  if (from === undefined || next === undefined) return false;
  const before = text.slice(Math.max(from.start, from.end - MAX_LAST_WORD), from.end);
  if (!before.endsWith('.')) return false;
  if (/^\p{Ll}/u.test(text.slice(next.start, next.start + 2))) return true;
  const [found, word] = ABBREVIATED.exec(before.toLowerCase()) ?? [];
  if (found === undefined) return false;
  return (
    word === undefined ||
    word.length === 1 ||
    isAbbreviation(word) ||
    (word.length === 2 && !WIDE.test(word) && !isFunctionWord(word))
  );
}

/** Whether a sentence begins within a quotation; asked in order. A mark without its partner is an inch sign or a slip. */
function createQuotationTest(paragraph: string): (start: number) => boolean {
  const quotations = Array.from(
    paragraph.matchAll(QUOTATION),
    ({ index, 0: { length } }) => [index, index + length] as const,
  );
  let next = 0;
  return (start) => {
    while ((quotations[next]?.[1] ?? Number.POSITIVE_INFINITY) <= start) next += 1;
    return (quotations[next]?.[0] ?? start) < start;
  };
}

/** The length is bounded, so that many marks without a partner cost no more. */
const QUOTATION = /"[^"]{0,2000}"|“[^”]{0,2000}”|«[^»]{0,2000}»|„[^“”]{0,2000}[“”]|「[^」]{0,2000}」/g;

const PERMISSION =
  /^(?:ok,? |okay,? |actually,? |fine,? |now )*(?:(?:you|we) (?:can|may)(?: now| again)? |(?:it is|it's|its) (?:ok|okay|fine|allowed)\b|forget |scrap |drop the |cancel )|\b(?:is|are) (?:fine|ok|okay|allowed|permitted)(?: again| now)?[.!]*$|\bno longer\b/;

const MARKUP = /[’‘`*_]|[^\S ]|  /;

/** The beginning of a sentence as patterns expect it: lower case, straight apostrophes, single spaces, no Markdown emphasis. */
function plainText(sentence: string): string {
  const lower = sentence.slice(0, READ_CHARS).toLowerCase();
  if (!MARKUP.test(lower)) return lower.trim();
  return lower
    .replace(/[’‘`]/g, "'")
    .replace(/[*_]{1,3}/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** What a single sentence, as `plainText` returns it, states. */
function kindOf(sentence: string): 'rule' | 'permission' | null {
  if (sentence.length < (WIDE.test(sentence) ? MIN_WIDE_CHARS : MIN_CHARS)) return null;
  if (/^["'“«]/.test(sentence)) return null;
  if (isEnglishRule(sentence)) return 'rule';
  if (!sentence.endsWith('?') && PERMISSION.test(sentence)) return 'permission';
  return hasEnglishWords(sentence, PLAIN.test(sentence) ? 1 : 2) ? null : readOtherLanguage(sentence);
}

/** A prompt with this many headings, or lines with a bold label, is a pasted document or a plan, so its lists describe the work. */
const DOCUMENT_HEADINGS = 3;
const HEADING = /^#{1,6} \S|^[ \t]*(?:[-*] |\d{1,3}[.)] )?\*\*[^*\n]{1,60}:?\*\*:? \S/gm;
const LISTED = /^\s*(?:[-*+•–—]\s|\d{1,3}[.)]\s|\*\*)/;

function isDocument(text: string): boolean {
  let count = 0;
  for (const _ of text.matchAll(HEADING)) {
    count += 1;
    if (count === DOCUMENT_HEADINGS) return true;
  }
  return false;
}

function* proseParagraphs(text: string): Generator<string> {
  const skipped = isDocument(text) ? LISTED : null;
  const all = [...lines(text)];
  const pasted = findPasted(all, (line) => kindOf(plainText(line.replace(MARKER, ''))) === 'rule');
  let open: string[] = [];
  let isFenced = false;
  for (const [at, raw] of all.entries()) {
    if (FENCE.test(raw)) isFenced = !isFenced;
    const isProse =
      !isFenced &&
      !FENCE.test(raw) &&
      pasted[at] !== true &&
      raw.trim() !== '' &&
      !NOT_PROSE.test(raw.slice(0, READ_CHARS)) &&
      skipped?.test(raw) !== true;
    const continues = isProse && open.length > 0 && open.length < MAX_JOINED && isContinuation(open.at(-1) ?? '', raw);
    if (!continues && open.length > 0) {
      yield open.join(' ');
      open = [];
    }
    if (isProse) open.push(continues ? raw.trim() : raw.replace(MARKER, '').trim());
  }
  if (open.length > 0) yield open.join(' ');
}

function* lines(text: string): Generator<string> {
  let from = 0;
  for (;;) {
    const end = text.indexOf('\n', from);
    yield text.slice(from, end < 0 ? text.length : end);
    if (end < 0) return;
    from = end + 1;
  }
}

function isContinuation(before: string, line: string): boolean {
  if (before.length < WRAPPED_CHARS || /[.!?:;。！？]["')\]]*$/u.test(before)) return false;
  return /^\s*[\p{Ll}\d("'`]/u.test(line) && !MARKER.test(line);
}
