import { basename } from 'node:path';

// What a transcript's name may end in; a compressed one's ending follows the other.
const ENDING = /(?:\.(?:jsonl|ndjson|json))?(?:\.(?:zst|gz))?$/i;
const COMPACTED = /\.compact(?:\.(?:jsonl|ndjson|json))?(?:\.(?:zst|gz))?$/i;
const TRANSCRIPT = /\.jsonl(?:\.(?:zst|gz))?$/i;

/** Whether a file of a folder is taken for a transcript without being named. */
export function isTranscriptName(path: string): boolean {
  return TRANSCRIPT.test(path);
}

/** Whether a name is one that this program gives its results. */
export function isCompacted(path: string): boolean {
  return COMPACTED.test(path);
}

/** `dir/x.jsonl` → `dir/x.compact.jsonl`; a name without a known ending gets `.compact.jsonl`. */
export function compactedPath(path: string): string {
  const name = basename(path);
  const ending = ENDING.exec(name)?.[0] ?? '';
  const stem = ending === '' ? name : name.slice(0, -ending.length);
  // A name that is an ending and nothing else (`.jsonl`) is a hidden file's.
  const renamed = stem === '' ? `${name}.compact.jsonl` : `${stem}.compact${ending === '' ? '.jsonl' : ending}`;
  return folderPart(path) + renamed;
}

/** `x.compact.jsonl` → `x.restored.jsonl`. */
export function restoredPath(path: string): string {
  const name = basename(path);
  const ending = ENDING.exec(name)?.[0] ?? '';
  const stem = (ending === '' ? name : name.slice(0, -ending.length)).replace(/\.compact$/i, '');
  return `${folderPart(path)}${stem}.restored${ending === '' ? '.jsonl' : ending}`;
}

/** With its slash, as the user wrote it: `x` stays without `./`, `./x` stays with it. */
function folderPart(path: string): string {
  return path.slice(0, path.length - basename(path).length);
}
