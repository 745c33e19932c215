import type { CompletedCall } from './calls.ts';
import { cutAtBlank } from './excerpt.ts';
import { baseName, type FileChange, IS_TEST } from './files.ts';
import { declaredName, IS_FILE } from './places.ts';
import { type HandoverLine, quoted, splitLines } from './line.ts';
import type { Edit } from './tool-call.ts';
import { isNoise } from './tool-result.ts';

const HEAD = 'What the newest edits wrote, without lines that only close brackets:';
/** The most that one edit may take of the room. */
const EDIT_SHARE = 0.4;
const MIN_CODE_CHARS = 20;
const MAX_LINE_CHARS = 240;
/** Longer lines are data. */
const MAX_READ_CHARS = 400;
/** As long as other files were changed, too. */
const MAX_EDITS_OF_FILE = 4;
const FENCE = '```';

/**
 * What the newest edits wrote and no later one took away, as code under its file: whoever goes on starts from there. Tests and new files come
 * last. What `above` shows is not shown again.
 */
export function writeLastEdits(
  files: readonly FileChange[],
  { calls, above, maxChars }: { calls: readonly CompletedCall[]; above: string; maxChars: number },
): readonly HandoverLine[] {
  const states = new Map(
    files.map(({ path, added, removed }) => [path, { added: new Set(added), removed: new Set(removed) }]),
  );
  const declared = new Set(files.flatMap(({ added }) => added.flatMap((line) => declaredName(line) ?? [])));
  const edits = calls.toReversed().flatMap(({ call, messageIds, hasFailed }) =>
    (hasFailed ? [] : call.edits.toReversed())
      // What a page says of code is no code.
      .filter(({ path, kind }) => kind === 'part' || IS_FILE.test(baseName(path)))
      .map((edit) => ({ edit, messageId: messageIds[0] ?? '' })),
  );
  const counts = new Map<string, number>();
  const isFirst = ({ path, kind }: Edit): boolean => {
    counts.set(path, (counts.get(path) ?? 0) + 1);
    return kind === 'part' && !IS_TEST.test(path) && (counts.get(path) ?? 0) <= MAX_EDITS_OF_FILE;
  };
  const ranked = Map.groupBy(edits, ({ edit }) => isFirst(edit));
  const shown = new Map<string, { readonly blocks: EditText[]; readonly messageIds: string[] }>();
  let left = maxChars - HEAD.length - 1;
  for (const { edit, messageId } of [...(ranked.get(true) ?? []), ...(ranked.get(false) ?? [])]) {
    const { path } = edit;
    const state = states.get(path);
    const roomChars = Math.min(left, Math.floor(maxChars * EDIT_SHARE)) - frameOf(path).length;
    const text = state === undefined ? null : textOf(edit, { ...state, declared, above, roomChars });
    if (text === null) continue;
    left -= frameOf(path).length + charsIn(text);
    const file = shown.get(path) ?? { blocks: [], messageIds: [] };
    file.blocks.push(text);
    file.messageIds.push(messageId);
    shown.set(path, file);
  }
  const lines = [...shown].map(([path, { blocks, messageIds }]) => ({ text: fileText(path, blocks), messageIds }));
  return lines.length === 0 ? [] : [{ text: HEAD, messageIds: [] }, ...lines];
}

/** The code of an edit, or the declarations that it removed. */
type EditText = { readonly removed: readonly string[]; readonly code: readonly string[] };

/** All that one edit of a file needs beside its code. */
function frameOf(path: string): string {
  return `- in \`${quoted(baseName(path))}\`: removed \n  ${FENCE}\n  ${CUT}\n  ${FENCE}\n`;
}

function charsIn({ removed, code }: EditText): number {
  return [...removed, ...code].reduce((sum, line) => sum + line.length + '`, `'.length, 0);
}

function fileText(path: string, blocks: readonly EditText[]): string {
  const removed = blocks.flatMap((block) => block.removed);
  const code = blocks.flatMap((block) => (block.code.length === 0 ? [] : [CUT, ...block.code])).slice(1);
  const gone = removed.length === 0 ? '' : `: removed ${quoted(removed.map((line) => `\`${line}\``).join(', '))}`;
  const head = `- in \`${quoted(baseName(path))}\`${gone}`;
  return code.length === 0 ? head : [`${head}${gone === '' ? '' : '; wrote'}:`, FENCE, ...code, FENCE].join('\n  ');
}

type EditOptions = {
  /** The lines that the file has more, and less, at the end. Those that are shown are taken from them. */
  readonly added: Set<string>;
  readonly removed: Set<string>;
  /** Names that edits declared in any file: what was moved or changed there is not gone. */
  readonly declared: ReadonlySet<string>;
  readonly above: string;
  readonly roomChars: number;
};

/** Null: nothing of the edit stands, or it does not fit. */
function textOf({ before, after }: Edit, { added, removed, declared, above, roomChars }: EditOptions): EditText | null {
  const written = splitLines(after).filter((line) => /\S/.test(line));
  const code = written.filter((line) => added.has(line.trim()) && isQuotable(line));
  if (code.length === 0) {
    const gone = splitLines(before).map((line) => line.trim());
    const lost = gone
      .filter((line) => {
        const name = removed.delete(line) ? declaredName(line) : null;
        return name !== null && !declared.has(name) && !line.includes('`');
      })
      .map((line) => line.replace(/\s*[{:]$/, ''));
    const text = { removed: lost, code: [] };
    return lost.length === 0 || charsIn(text) > roomChars ? null : text;
  }
  if (code.every((line) => above.includes(line.trim().replace(/[;,]$/, '')))) return null;
  const indent = code.reduce((least, line) => Math.min(least, line.search(/\S/)), Infinity);
  const isNew = new Set(code);
  const old = new Set(splitLines(before).map((line) => line.trim()));
  const lines = written.flatMap((line): readonly EditLine[] => {
    const lineIndent = line.search(/\S/);
    // A blank line stands for the end of a function.
    if (!/[\p{L}\p{N}]/u.test(line)) return lineIndent <= indent ? [{ text: '', isNew: false }] : [];
    const words = line.trim();
    // A later edit may have taken it away.
    if (!added.has(words) && !STEP.test(words) && (!old.has(words) || removed.has(words))) return [];
    // Data says nothing, and a fence would end the block.
    if (line.length > MAX_READ_CHARS || line.includes(FENCE)) return [{ text: CUT, isNew: false }];
    const text = line.slice(Math.min(indent, lineIndent)).replaceAll('\t', '  ').trimEnd();
    return [{ text: cutAtBlank(text, MAX_LINE_CHARS), isNew: isNew.has(line) }];
  });
  const shown = fittingLines(lines, roomChars);
  if (shown.join('').length < MIN_CODE_CHARS) return null;
  for (const line of code) added.delete(line.trim());
  return { removed: [], code: shown };
}

type EditLine = {
  readonly text: string;
  /** Whether the line stands for itself. Others are shown between such lines. */
  readonly isNew: boolean;
};

/** If not all lines fit: declarations with the comments above them, then the first others. `…` stands for lines that are left out. */
function fittingLines(code: readonly EditLine[], maxChars: number): readonly string[] {
  const chosen = new Set<number>();
  let left = maxChars;
  const take = (at: number): void => {
    const line = code[at];
    const chars = (line?.text.length ?? 0) + 3 + (chosen.has(at - 1) ? 0 : CUT.length + 3);
    if (line === undefined || chosen.has(at) || chars > left) return;
    left -= chars;
    chosen.add(at);
  };
  const isNew = (at: number): boolean => code[at]?.isNew === true;
  if (code.reduce((sum, { text }) => sum + text.length + 3, 0) > maxChars) {
    for (const [at, { text }] of code.entries()) {
      if (!isNew(at) || declaredName(text.trim()) === null) continue;
      take(at);
      for (let above = at - 1; COMMENT.test(code[above]?.text ?? ''); above -= 1) take(above);
    }
  }
  let last = -Infinity;
  for (const at of code.keys()) {
    if (!isNew(at)) continue;
    // Without the few lines between two of them, neither can be read.
    if (at - last <= MAX_GAP_LINES + 1) for (let gap = last + 1; gap < at; gap += 1) take(gap);
    take(at);
    if (chosen.has(at)) last = at;
  }
  if (code.length - last <= MAX_GAP_LINES + 1) for (let gap = last + 1; gap < code.length; gap += 1) take(gap);
  const places = [...chosen].toSorted((a, b) => a - b);
  const shown = places.flatMap((at, index) => {
    const isGap = index > 0 && places[index - 1] !== at - 1;
    return [...(isGap ? [CUT] : []), code[at]?.text ?? ''];
  });
  const end = shown.findLastIndex((line) => line !== '' && line !== CUT);
  // One mark or blank line is enough.
  const isDouble = (line: string, next = ''): boolean => line === next || (line === '' && next === CUT);
  return shown.slice(0, end + 1).filter((line, at) => (line !== '' && line !== CUT) || !isDouble(line, shown[at + 1]));
}

const MAX_GAP_LINES = 4;
const CUT = '…';
const COMMENT = /^\s*(?:\/\/|#|\/?\*|""")/;

/** A line that a person can read on its own: no rest of a statement or list, no import, no encoded data, nothing that ends the block. */
function isQuotable(line: string): boolean {
  const code = line.trim();
  return (
    code.length <= MAX_READ_CHARS &&
    STARTS_STATEMENT.test(code) &&
    !STEP.test(code) &&
    !isNoise(code) &&
    !code.includes(FENCE) &&
    !/\\[nt"]/.test(code)
  );
}

const STARTS_STATEMENT = /^[\p{L}\p{N}_$@#<*/.!&(-].*[\p{L}\p{N}]/u;
/** What is in every function. */
const STEP =
  /^(?:if (?:\()?err(?:or)? (?:!=|!==) (?:nil|null)\)? \{|return(?:,? (?:nil|null|err|error))*;?|break;?|continue;?|else:?|try:?|try \{|finally \{|pass)$/;
