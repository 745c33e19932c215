import { quoteText } from '../quoted-text.ts';
import { cutAtBlank } from './excerpt.ts';
import { type HandoverLine, splitLines } from './line.ts';
import type { Conversation } from './turns.ts';

const FRAME =
  /^(?:This session is being continued from|Analysis:$|<\/?(?:analysis|summary|state_snapshot)>$|Summary:$|If you need specific details from before compaction|Please continue the conversation from where|Continue the conversation from where|\[Context Summary — )/;
const ANALYSIS = /(?:^|\n)(?:Analysis:|<analysis>)/;
const AFTER_ANALYSIS = /\n(?=(?:Summary:|<summary>)[^\S\n]*\n)/;
const FENCE = /^\s*(?:```|~~~)/;
const MAX_LINE_CHARS = 240;
/** Rules and open tasks stay whole, since nobody writes longer ones. */
const MAX_WEIGHTY_LINE_CHARS = 800;

/**
 * The producer's newest summary: whole if it fits, else mostly its rules and open tasks, without code. What it says of the current work is
 * left out if requests came later.
 */
export function summaryLines({ summaries, turns }: Conversation, maxChars: number): readonly HandoverLine[] {
  const newest = summaries.at(-1);
  if (newest === undefined) return [];
  const place = turns.findIndex(({ steps }) => steps.includes(newest));
  const next = turns.slice(place + 1).find(({ request }) => request !== null);
  const lines = readLines(newest.text).filter(({ isCurrentWork }) => next === undefined || !isCurrentWork);
  const time = next === undefined ? 'As of that time' : `Before request ${next.number}`;
  const head = `${time}; what came later stands in the other sections:`;
  const room = maxChars - head.length - 1;
  const size = lines.reduce((sum, { text }) => sum + text.length + 1, 0);
  const chosen = size <= room ? lines.map(({ text }) => text) : outlineOf(withoutCode(lines), room);
  return chosen.length === 0 ? [] : [head, ...chosen].map((text) => ({ text, messageIds: [newest.messageId] }));
}

type SummaryLine = {
  readonly text: string;
  readonly section: number;
  readonly isHeading: boolean;
  readonly isCode: boolean;
  /** Whether it says what was being worked on when the summary was written. */
  readonly isCurrentWork: boolean;
  /** How many lines this counts for, compared with a line of a section of weight 1. */
  readonly weight: number;
};

const HEADING = /^(?:#|\d{1,2}\.\s|[^\s-].*:$|\*\*)/;
const STALE_HEADING = /\b(?:next steps?|pending|todo|to do|remaining|current (?:work|state|task)|in progress)\b/i;
const CURRENT_WORK_HEADING = /\b(?:next steps?|current (?:work|task|errors?|status))\b/i;
const AS_OF_THEN = ' (at that time)';
const RULES =
  /\b(?:constraints?|rules?|instructions?|preferences?|requirements?|must|never|always|verbatim|do not|don['’]t)\b/i;
const MATERIAL = /\b(?:files?|code|concepts?|analysis|artifacts?)\b/i;
const WEIGHT = { rules: 6, open: 3, plain: 1, material: 0.4 } as const;

function weightOf(heading: string): number {
  if (RULES.test(heading)) return WEIGHT.rules;
  if (STALE_HEADING.test(heading)) return WEIGHT.open;
  return MATERIAL.test(heading) ? WEIGHT.material : WEIGHT.plain;
}

/** The lines of a summary without its producer's frame. Each is indented, so that it cannot look like one of our own. */
function readLines(summary: string): readonly SummaryLine[] {
  const lines: SummaryLine[] = [];
  let section = 0;
  let sectionWeight: number = WEIGHT.plain;
  // The line that introduces a list passes its weight to the items.
  let lead: { readonly indent: number; readonly weight: number } | null = null;
  let currentDepth: number | null = null;
  let isFenced = false;
  for (const line of splitLines(withoutAnalysis(summary))) {
    const written = line.trimEnd().replace(ESCAPED_HEADING, '$1');
    if (written === '' || FRAME.test(written.trim())) continue;
    const isFence = FENCE.test(written);
    if (isFence) isFenced = !isFenced;
    const isCode = isFenced || isFence;
    const isHeading = !isCode && HEADING.test(written);
    const indent = written.length - written.trimStart().length;
    if (isHeading) {
      section += 1;
      sectionWeight = weightOf(written);
      const depth = depthOf(written);
      if (CURRENT_WORK_HEADING.test(written)) currentDepth ??= depth;
      else if (currentDepth !== null && depth <= currentDepth) currentDepth = null;
      lead = null;
    } else {
      if (lead !== null && (indent < lead.indent || (indent === lead.indent && !ITEM.test(written)))) lead = null;
      // An item may have a label of its own.
      const depth = ITEM_DEPTH + indent;
      if (currentDepth !== null && depth <= currentDepth) currentDepth = null;
      if (CURRENT_WORK_HEADING.test(ITEM_LABEL.exec(written)?.[1] ?? '')) currentDepth ??= depth;
    }
    if (!isCode && !isHeading && written.endsWith(':'))
      lead = { indent, weight: RULES.test(written) ? WEIGHT.rules : 0 };
    const mark = isHeading && STALE_HEADING.test(written) ? AS_OF_THEN : '';
    const text = `  ${quoteText(written.replace(HEADING_MARKS, '$1'))}${mark}`;
    const isCurrentWork = currentDepth !== null;
    lines.push({ text, section, isHeading, isCode, isCurrentWork, weight: Math.max(sectionWeight, lead?.weight ?? 0) });
  }
  return lines;
}

function withoutAnalysis(summary: string): string {
  const start = summary.search(ANALYSIS);
  const length = start < 0 ? -1 : summary.slice(start).search(AFTER_ANALYSIS);
  return length < 0 ? summary : `${summary.slice(0, start)}\n${summary.slice(start + length)}`;
}

/** How deep the part under a heading lies: Markdown has six levels, and an item may only look like a heading. */
function depthOf(heading: string): number {
  const marks = /^#*/.exec(heading)?.[0].length ?? 0;
  if (marks > 0) return marks;
  if (!/^\d/.test(heading)) return 8;
  return /:\**$/.test(heading) ? 7 : 9;
}

/** The lines without code. What announces code ends with a full stop. */
function withoutCode(lines: readonly SummaryLine[]): readonly SummaryLine[] {
  return lines.flatMap((line, at) => {
    if (line.isCode) return [];
    const isFollowed = lines[at + 1]?.isCode === true;
    return [isFollowed ? { ...line, text: line.text.replace(/:(\**)$/, '$1.') } : line];
  });
}

const ITEM_DEPTH = 10;
const ITEM_LABEL = /^\s*[-*+•]\s+\*\*([^*]{1,60})\*\*/;
/** A heading that was escaped when our own summary was written, before its producer took it over. */
const ESCAPED_HEADING = /^(\s*)\\(?=#)/;
const ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s/;
const HEADING_MARKS = /^(\s*)#{1,6}\s+/;

/**
 * Takes the headings, then lines from all sections in turn, more at a time from heavier ones, until nothing fits. In order, with the number of
 * lines that are missing at the end.
 */
function outlineOf(lines: readonly SummaryLine[], maxChars: number): readonly string[] {
  const turnOf = new Map<string, number>();
  const ranked = lines.map((line, index) => {
    const key = `${line.section} ${line.weight}`;
    const turn = line.isHeading ? 0 : (turnOf.get(key) ?? 0) + 1 / line.weight;
    turnOf.set(key, turn);
    const maxLineChars = line.weight >= WEIGHT.open ? MAX_WEIGHTY_LINE_CHARS : MAX_LINE_CHARS;
    return { index, turn, text: cutAtBlank(line.text, maxLineChars) };
  });
  const chosen = new Map<number, string>();
  let left = maxChars - COUNT_CHARS;
  for (const { index, text } of ranked.toSorted((a, b) => a.turn - b.turn || a.index - b.index)) {
    if (text.length + 1 > left) continue;
    left -= text.length + 1;
    chosen.set(index, text);
  }
  const missing = lines.length - chosen.size;
  const count =
    missing === 0 || chosen.size === 0 ? [] : [`  (${missing} ${missing === 1 ? 'line' : 'lines'} left out)`];
  return [...lines.flatMap((_, index) => chosen.get(index) ?? []), ...count];
}

const COUNT_CHARS = '  (1000 lines left out)\n'.length;
