import type { Passage } from '../extract/passage.ts';
import type { ChooseOptions } from '../extract/selection.ts';
import type { Unit } from '../extract/units.ts';

const CAUSE =
  /\b(?:because|since the|the (?:problem|issue|bug|cause|reason|fix|culprit) (?:is|was)|root cause|caused by|due to|turns out|instead of|rather than|decided|chose|so that|means that|that['’]s why|which is why|in order to|confirmed|found (?:it|the|that)|doesn['’]t|does not|cannot|can['’]t|won['’]t|never|fails?|failed|broken|missing|wrong|actually|however)\b|原因|所以|因为|因為|ため|ので|\b(?:weil|deshalb|porque|por eso|parce que|donc|perché|quindi|omdat|eftersom)\b|потому|поэтому/iu;
/** It says what comes next, not what came of it. */
export function isAnnouncement(text: string): boolean {
  return (ANNOUNCEMENT.test(text) && !REPORT.test(text)) || /[:：]\s*$/.test(text);
}

/** It begins like an announcement, and says what was seen. */
const REPORT =
  /^(?:\w+[,!.]?\s+){0,2}now i (?:see|understand|know|found|have)\b|^now i (?:see|understand|know|found|have)\b|^(?:checking|looking|reading|running)\b.*\b(?:shows?|showed|revealed|confirmed)\b/i;
const ANNOUNCEMENT =
  /^(?:(?:now|ok|okay|great|perfect|good|excellent|alright|right|next|first|then|and|so)[,!.]?\s+)*(?:let me|let['’]s|i['’]ll|i will|i am going to|i['’]m going to|i need to|i should|now i|i can now|checking|looking|reading|running|ich werde|ich schaue|lass mich|je vais|laisse-moi|voy a|déjame|vou)\b|^(?:让我|讓我|我来|我來|我将|我將|现在我|まず)/i;

/** How much a sentence of the assistant tells of a cause, a decision or a way that did not work; 0: it is none of its sentences. */
export function worthOfFinding(text: string, { kind }: Unit, { speakerKind, day }: Passage): number {
  if (kind !== 'prose' || speakerKind !== 'assistant') return 0;
  if (wordsIn(text) < 5 || (day ?? '') === '') return 0;
  if (isAnnouncement(text)) return 0;
  return CAUSE.test(text) ? 1.8 : 1;
}

/** Words, where a script writes spaces; else about so many. */
function wordsIn(text: string): number {
  return Math.max(
    text.split(/\s+/).length,
    Math.floor((text.match(/[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/g) ?? []).length / 2),
  );
}

type WorthOf = NonNullable<ChooseOptions['worthOf']>;

/** Found by measuring: without any code and names of files, hand-overs of work lose what it is about. */
const WORTH = { statement: 1.2, result: 1, remark: 0.7, writtenCode: 0.9, readCode: 0.5, listing: 0.5 } as const;
const MIN_QUOTED_CHARS = 12;
/** A tool's name and nothing that it was called with. */
const BARE_NAME = /^[\w.:-]+$/;
const PATH = String.raw`(?:[\w@.~-]*\/)*[\w@.~-]*(?:\.\w{1,8}|\/)`;
/** Names of files, maybe with git's marks, and nothing that is said of them. */
const LISTING = new RegExp(`^(?:[MADRCU?!]{1,2}\\s+)?${PATH}(?:\\s+${PATH})*$`);
/** A remark in code says something of it, though less than a sentence of the conversation. */
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
 * How much a unit says that stands nowhere above: nothing where it is quoted there, was seen before, announces something or is a bare name,
 * and less where it is code or a listing. For one choice only, since it remembers what it saw.
 */
export function createWorthOfDetail(above: readonly string[]): WorthOf {
  const quotedAbove = flat(above.join('\n'));
  const seen = new Set<string>();
  return (text, { kind }) => {
    const said = flat(text);
    if (seen.has(said) || (said.length >= MIN_QUOTED_CHARS && quotedAbove.includes(said))) return 0;
    seen.add(said);
    if (kind === 'prose') return isAnnouncement(said) ? 0 : WORTH.statement;
    if (BARE_NAME.test(said)) return 0;
    if (LISTING.test(said)) return WORTH.listing;
    if (kind !== 'error' && isCode(said)) return kind === 'call' ? WORTH.writtenCode : WORTH.readCode;
    return REMARK.test(said) ? WORTH.remark : WORTH.result;
  };
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
