import type { Passage } from '../extract/passage.ts';
import type { ChooseOptions } from '../extract/selection.ts';
import type { Unit } from '../extract/units.ts';

const CAUSE =
  /\b(?:because|since the|the (?:problem|issue|bug|cause|reason|fix|culprit) (?:is|was)|root cause|caused by|due to|turns out|instead of|rather than|decided|chose|so that|means that|that['’]s why|which is why|in order to|confirmed|found (?:it|the|that)|doesn['’]t|does not|cannot|can['’]t|won['’]t|never|fails?|failed|broken|missing|wrong|actually|however)\b|原因|所以|因为|因為|ため|ので|\b(?:weil|deshalb|porque|por eso|parce que|donc|perché|quindi|omdat|eftersom)\b|потому|поэтому/iu;
/** Whether a text announces what comes next instead of saying what happened. */
export function isAnnouncement(text: string): boolean {
  return (ANNOUNCEMENT.test(text) && !REPORT.test(text)) || /[:：]\s*$/.test(text);
}

/** Begins like an announcement, but says what was seen. */
const REPORT =
  /^(?:\w+[,!.]?\s+){0,2}now i (?:see|understand|know|found|have)\b|^now i (?:see|understand|know|found|have)\b|^(?:checking|looking|reading|running)\b.*\b(?:shows?|showed|revealed|confirmed)\b/i;
const ANNOUNCEMENT =
  /^(?:(?:now|ok|okay|great|perfect|good|excellent|alright|right|next|first|then|and|so)[,!.]?\s+)*(?:let me|let['’]s|i['’]ll|i will|i am going to|i['’]m going to|i need to|i should|now i|i can now|checking|looking|reading|running|ich werde|ich schaue|lass mich|je vais|laisse-moi|voy a|déjame|vou)\b|^(?:让我|讓我|我来|我來|我将|我將|现在我|まず)/i;

/** Rates a sentence as a finding: high if the assistant states a cause, a decision or a failed attempt; 0 if it cannot be a finding. */
export function worthOfFinding(text: string, { kind }: Unit, { speakerKind, day }: Passage): number {
  if (kind !== 'prose' || speakerKind !== 'assistant') return 0;
  if (wordsIn(text) < 5 || (day ?? '') === '') return 0;
  if (isAnnouncement(text)) return 0;
  return CAUSE.test(text) ? 1.8 : 1;
}

/** The number of words, estimated for scripts without spaces. */
function wordsIn(text: string): number {
  return Math.max(
    text.split(/\s+/).length,
    Math.floor((text.match(/[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/g) ?? []).length / 2),
  );
}

type WorthOf = NonNullable<ChooseOptions['worthOf']>;

/** Found by measuring: without any code and file names, a hand-over does not show what the work is about. */
const WORTH = { statement: 1.2, result: 1, remark: 0.7, writtenCode: 0.9, readCode: 0.5, listing: 0.5 } as const;
const MIN_QUOTED_CHARS = 12;
/** A tool's name without arguments. */
const BARE_NAME = /^[\w.:-]+$/;
const PATH = String.raw`(?:[\w@.~-]*\/)*[\w@.~-]*(?:\.\w{1,8}|\/)`;
/** File names, maybe with git's status letters, and nothing about them. */
const LISTING = new RegExp(`^(?:[MADRCU?!]{1,2}\\s+)?${PATH}(?:\\s+${PATH})*$`);
/** A code comment explains something, though less than a sentence of the conversation does. */
const REMARK = /^(?:\/\/|\/\*|\*\s|#\s|--\s|"{3}|'{3})/;
const CODE: readonly RegExp[] = [
  /[{;\\([]$|^[\w.$]+\(.*\)[;,]?$/,
  /^(?:def|func|fn|function|class|interface|struct|enum|return|const|let|var|export|public|private|protected|static|async|await|elif|else|except|finally|raise|throw|type)\b.*[=:(){}<>]/,
  /^(?:if|for|while|switch|try|with)\b.*[:{]$/,
  /^[\w.$[\]'"]+(?:,\s*[\w.$]+)*\s*(?::=|[-+*/|&]?=)\s*\S/,
  /^[\w$"'.-]+\??:\s.*,$|^(?:[\w$.]+,\s*)+$|^[)\]}]/,
  /^<\/?[a-zA-Z][^>]*>|^@\w+|^["'`]|=>|^\.{1,3}\w/,
];

function isCode(text: string): boolean {
  return CODE.some((pattern) => pattern.test(text));
}

/**
 * Creates a function that rates a unit by what it adds to the sections above: 0 if it is quoted there, repeated, an announcement or a bare
 * name, and less if it is code or a listing. Use it for one choice only, since it remembers what it has seen.
 */
export function createWorthOfDetail(above: readonly string[]): WorthOf {
  const isQuotedAbove = createSubstringCheck(flat(above.join('\n')));
  const seen = new Set<string>();
  return (text, { kind }) => {
    const said = flat(text);
    if (seen.has(said) || isQuotedAbove(said)) return 0;
    seen.add(said);
    if (kind === 'prose') return isAnnouncement(said) ? 0 : WORTH.statement;
    if (BARE_NAME.test(said)) return 0;
    if (LISTING.test(said)) return WORTH.listing;
    if (kind !== 'error' && isCode(said)) return kind === 'call' ? WORTH.writtenCode : WORTH.readCode;
    return REMARK.test(said) ? WORTH.remark : WORTH.result;
  };
}

/** Tells whether a text of at least `MIN_QUOTED_CHARS` is part of the whole. Few texts pass the look-up, which makes this fast. */
function createSubstringCheck(whole: string): (text: string) => boolean {
  const beginnings = new Set<string>();
  for (let at = 0; at + MIN_QUOTED_CHARS <= whole.length; at += 1) {
    beginnings.add(whole.slice(at, at + MIN_QUOTED_CHARS));
  }
  return (text) => beginnings.has(text.slice(0, MIN_QUOTED_CHARS)) && whole.includes(text);
}

const UNEVEN = /[^\S ]|  /;

function flat(text: string): string {
  return (UNEVEN.test(text) ? text.replace(/\s+/g, ' ') : text).trim();
}
