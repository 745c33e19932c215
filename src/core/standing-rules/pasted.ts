import { lazily } from '../lazy.ts';

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
export function findPasted(lines: readonly string[], isRule: (line: string) => boolean): readonly boolean[] {
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
