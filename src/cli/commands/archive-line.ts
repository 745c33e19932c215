import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { PrunePolicy } from '../../app/archive/prune-archive.ts';
import type { EraseSelector } from '../../app/archive/select.ts';
import type { CommonRequest } from '../invocation.ts';
import type { Options } from './command.ts';
import { readTime } from './options.ts';

export const ACTIONS = [
  'list',
  'stats',
  'check',
  'embed',
  'hold',
  'erase',
  'prune',
  'merge',
  'export',
  'import',
] as const;

export type ArchiveInvocation = CommonRequest & {
  readonly kind: 'archive';
  readonly action: (typeof ACTIONS)[number];
  /** What follows the action. */
  readonly operands: readonly string[];
  readonly selectors: readonly EraseSelector[];
  readonly reason: string | null;
  readonly isConfirmed: boolean;
  readonly despiteHold: boolean;
  /** For erase: list the receipts. */
  readonly lists: boolean;
  readonly prune: PruneFlags;
  readonly export: ExportFlags;
  /** For import; null: the usual limit. */
  readonly maxLineBytes: number | null;
};

/** The folders: null if they were not given. */
type ExportFlags = {
  readonly jsonl: string | null;
  readonly parquet: string | null;
  readonly since: Date | null;
  readonly until: Date | null;
};

export function readExport({ jsonl, parquet, since, until }: Options): ExportFlags {
  return { jsonl: jsonl ?? null, parquet: parquet ?? null, since: readTime(since), until: readTime(until) };
}

/** Null: the configuration decides. */
type PruneFlags = { readonly [key in keyof PrunePolicy]: PrunePolicy[key] | null };

export function readPrune({ olderThan, maxSize, keepLast, project }: Options): PruneFlags {
  return {
    before: readTime(olderThan),
    maxBytes: maxSize ?? null,
    keepLast: keepLast ?? null,
    project: project ?? null,
  };
}

export function readSelectors({ conversation, source, match, message }: Options): readonly EraseSelector[] {
  return [
    ...(conversation === undefined ? [] : [{ kind: 'conversation', id: conversation } as const]),
    ...(source === undefined ? [] : [{ kind: 'source', glob: absoluteGlob(source) } as const]),
    ...(match === undefined ? [] : [{ kind: 'match', text: match } as const]),
    ...(message === undefined ? [] : [{ kind: 'message', id: message } as const]),
  ];
}

/** A glob that begins with a folder of the shell is meant from there; any other matches the end of a path. */
function absoluteGlob(glob: string): string {
  if (glob === '~' || glob.startsWith('~/')) return join(homedir(), glob.slice(1));
  return /^\.{1,2}(?:\/|$)/.test(glob) ? resolve(glob) : glob;
}

export function findConflict(invocation: ArchiveInvocation): string | null {
  const { action, operands, selectors, lists, reason, isConfirmed, despiteHold } = invocation;
  if (action !== 'export' && Object.values(invocation.export).some((value) => value !== null))
    return `archive ${action} takes no --jsonl, --parquet, --since or --until`;
  if (action !== 'import' && invocation.maxLineBytes !== null) return `archive ${action} takes no --max-line`;
  if (action === 'hold') return findHoldConflict(invocation);
  if (action === 'merge') {
    if (operands.length === 0) return 'name the archives to merge: paths or postgres:// URLs';
  } else if (action === 'import') {
    if (operands.length !== 1) return 'name one folder to import: that of an export';
  } else if (operands.length > 0) return `archive ${action} takes no '${operands[0]}'`;
  const isPolicy = Object.values(invocation.prune).some((value) => value !== null);
  if (isPolicy && action !== 'prune')
    return `archive ${action} takes no --older-than, --max-size, --keep-last or --project`;
  if (action === 'prune') {
    if (/^\/*$/.test(invocation.prune.project ?? '-')) return '--project must name a folder or a glob';
    const hasOther = selectors.length > 0 || reason !== null || despiteHold || lists;
    return hasOther
      ? 'archive prune takes no --conversation, --source, --match, --message, --reason, --despite-hold or --list'
      : null;
  }
  if (action === 'export') {
    if (reason !== null || isConfirmed || despiteHold || lists)
      return 'archive export takes no --reason, --yes, --despite-hold or --list';
    if (selectors.some(({ kind }) => kind === 'match' || kind === 'message'))
      return 'archive export takes no --match or --message';
    const { jsonl, parquet } = invocation.export;
    return (jsonl ?? parquet) ? null : 'name a new or an empty folder for the export with --jsonl or --parquet';
  }
  if (action === 'merge' || action === 'import') {
    const hasOther = selectors.length > 0 || reason !== null || isConfirmed || despiteHold || lists;
    return hasOther
      ? `archive ${action} takes no --conversation, --source, --match, --message, --reason, --yes, --despite-hold or --list`
      : null;
  }
  if (action !== 'erase') {
    const hasFlags = selectors.length > 0 || reason !== null || isConfirmed || despiteHold || lists;
    return hasFlags
      ? `archive ${action} takes no --conversation, --source, --match, --message, --reason, --yes, --despite-hold or --list`
      : null;
  }
  if (lists) return selectors.length > 0 ? 'archive erase --list takes nothing else' : null;
  const [selector] = selectors;
  if (selector === undefined || selectors.length > 1)
    return 'name what to erase: --conversation, --source, --match or --message';
  if (Object.values(selector).includes('')) return `--${selector.kind} must not be empty`;
  const isPlace = selector.kind === 'message' && /^line:\d+$/.test(selector.id);
  return isPlace
    ? `'${selector.id}' is a line number, which every transcript has. Select the text with --match instead.`
    : null;
}

function findHoldConflict({
  operands,
  selectors,
  isConfirmed,
  despiteHold,
  lists,
  prune,
}: ArchiveInvocation): string | null {
  const [change = 'list', ...more] = operands;
  if (!['add', 'remove', 'list'].includes(change) || more.length > 0) return 'archive hold takes add, remove or list';
  if (Object.values(prune).some((value) => value !== null))
    return 'archive hold takes no --older-than, --max-size, --keep-last or --project';
  if (isConfirmed || despiteHold || lists) return 'archive hold takes no --yes, --despite-hold or --list';
  if (change === 'list')
    return selectors.length > 0 ? 'archive hold list takes no --conversation and no --source' : null;
  const empty = selectors.find((selector) => Object.values(selector).includes(''));
  if (empty !== undefined) return `--${empty.kind} must not be empty`;
  const isScope = selectors.length === 1 && selectors.every(({ kind }) => kind === 'conversation' || kind === 'source');
  return isScope ? null : `archive hold ${change} takes either --conversation or --source`;
}
