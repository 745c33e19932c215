import { type Span, splitSentences } from '../extract/sentence.ts';
import { isAbbreviation, isFunctionWord } from '../languages/detect.ts';
import { hasEnglishWords, isEnglishRule } from './english.ts';
import { readOtherLanguage } from './languages.ts';
import type { Statement } from './overrides.ts';
import { lazily } from '../lazy.ts';

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

function isBrokenOff(text: string, { from, next }: { from: Span | undefined; next: Span | undefined }): boolean {
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

/** A mail's headers follow one another, or a client marks where the quoted mail begins. What follows belongs to the mail. */
const MAIL_HEADER =
  /^\s*[*_]{0,2}(?:from|to|cc|sent|date|subject|reply-to|von|an|gesendet|betreff|datum|de|à|envoyé|objet|para|enviado|asunto|assunto|от|кому|тема|дата)[*_]{0,2}\s?:[*_]{0,2}\s?\S/i;
const MAIL_BEGINS = /^\s*-{2,}\s?(?:original message|forwarded message|begin forwarded|ursprüngliche nachricht)/i;
const MIN_MAIL_HEADERS = 3;

/** Lines of logs, diffs, stack traces and terminals. */
const PRINTED =
  /^\s*(?:[+-]{3}\s|@@ |diff --git|[$❯%] \S|\S{0,40}>>> |PS [A-Z]:\\|at \S+ \(|File "|Traceback|caused by|\S*(?:error|exception|warning)\b[^.!?]{0,40}:|\[?(?:info|debug|trace|warn(?:ing)?|error|fatal|notice)\b[\]:|]|\[?\d{4}-\d\d-\d\d[t ]\d\d:|\[?\d\d:\d\d:\d\d|[a-z]{3} +\d{1,2} \d\d:\d\d:\d\d|\S+\.\w{1,5}:\d+[:\s]|\d{1,5}(?:→|[|:]\s)|[✓✔✗✘✕×●•○] |={3,} \S|(?:PASS|FAIL|ok|not ok)\b)/i;
/** What a terminal printed stands below the command, and a diff below its head. */
const PRINTS_BELOW = /^\s*(?:[$❯] \S|PS [A-Z]:\\|@@ |diff --git|Traceback |={3,} (?:RUN|Step|FAIL)|--- (?:PASS|FAIL))/;

/** Prompts speak of "you", "I" and "please"; so many lines in a row without such a word are a document. */
const MAX_UNADDRESSED = 20;
/** Above and below a document people write a short paragraph of their own. */
const MAX_OWN_LINES = 3;
const ADDRESS = lazily(
  () =>
    /(?<!\p{L})(?:i|i'm|i'd|i've|me|my|we|us|our|you|your|please|let's|can|could|ich|mir|wir|uns|du|dir|dein\p{L}*|sie|ihr\p{L}*|bitte|je|j'\p{L}+|moi|nous|notre|tu|toi|vous|votre|stp|svp|yo|mi|nosotros|usted|te|por favor|eu|nós|você|meu|minha|io|noi|per favore|ik|wij|jij|alsjeblieft|я|мне|мы|нам|ты|вы|вам|пожалуйста|ben|biz|sen|siz|lütfen|أنا|أنت|نحن|אני|אתה|אנחנו|मैं|मुझे|आप|कृपया|tôi|bạn|chúng ta)(?!\p{L})|[请請你您我咱]|ください|お願い|私|僕|주세요|해줘|나는|저는|우리|[?？؟]/iu,
);

/**
 * Whether each line stands in something that was pasted: a mail, output of a terminal, a log, a diff, or a long document that addresses
 * nobody. `isRule`: such a document is somebody's list of rules if many of its lines are rules.
 */
function findPasted(lines: readonly string[], isRule: (line: string) => boolean): readonly boolean[] {
  const pasted = lines.map(() => false);
  const fill = (from: number, to: number): void => void pasted.fill(true, from, to);
  const mail = findMail(lines);
  if (mail >= 0) fill(mail, lines.length);
  const blocks = findBlocks(lines);
  for (const { from, to } of blocks) {
    const below = lines.slice(from, to).findIndex((line) => PRINTS_BELOW.test(line));
    if (below >= 0) fill(from + below, to);
    const printed = lines.slice(from, to).filter((line) => PRINTED.test(line)).length;
    if (to - from >= 3 && printed * 2 > to - from) fill(from, to);
  }
  for (const { from, to } of findUnaddressed(lines, blocks)) {
    const said = lines.slice(from, to).filter((line) => line.trim() !== '');
    const isDocument = said.length > MAX_UNADDRESSED && said.filter(isRule).length * 3 < said.length;
    if (isDocument) fill(from, to);
  }
  return pasted;
}

/** Where a mail begins; -1: there is none. */
function findMail(lines: readonly string[]): number {
  let headers = 0;
  for (const [at, line] of lines.entries()) {
    if (MAIL_BEGINS.test(line)) return at;
    headers = MAIL_HEADER.test(line) ? headers + 1 : 0;
    if (headers === MIN_MAIL_HEADERS) return at - MIN_MAIL_HEADERS + 1;
  }
  return -1;
}

/** Lines from `from` up to but without `to`. */
type Range = { readonly from: number; readonly to: number };

/** Lines without an empty one between them. */
function findBlocks(lines: readonly string[]): readonly Range[] {
  const blocks: Range[] = [];
  let from = -1;
  for (const [at, line] of [...lines, ''].entries()) {
    if (line.trim() !== '' && from < 0) from = at;
    if (line.trim() === '' && from >= 0) {
      blocks.push({ from, to: at });
      from = -1;
    }
  }
  return blocks;
}

/** Runs of lines that address nobody, without a short paragraph at either end of the text. */
function findUnaddressed(lines: readonly string[], blocks: readonly Range[]): readonly Range[] {
  if (lines.length <= MAX_UNADDRESSED) return [];
  const isOwn = ({ from, to }: Range): boolean => to - from <= MAX_OWN_LINES;
  const [first] = blocks;
  const last = blocks.at(-1);
  const start = first !== undefined && isOwn(first) ? first.to : 0;
  const end = last !== undefined && last !== first && isOwn(last) ? last.from : lines.length;
  const runs: Range[] = [];
  let from = start;
  for (let at = start; at <= end; at += 1) {
    if (at < end && !ADDRESS().test(lines[at] ?? '')) continue;
    if (at - from > MAX_UNADDRESSED) runs.push({ from, to: at });
    from = at + 1;
  }
  return runs;
}
