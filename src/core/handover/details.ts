import type { ChooseOptions } from '../extract/select-units.ts';
import { isAnnouncement } from './findings.ts';

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
