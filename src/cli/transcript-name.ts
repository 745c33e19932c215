import { basename, dirname, join } from 'node:path';

// What a transcript's name may end in; a compressed one's ending follows the other.
const ENDING = /(?:\.(?:jsonl|ndjson|json))?(?:\.(?:zst|gz))?$/i;
const COMPACTED = /\.compact(?:\.(?:jsonl|ndjson|json))?(?:\.(?:zst|gz))?$/i;
const TRANSCRIPT = /\.jsonl$/i;

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
  return joinFolder(dirname(path), renamed, path);
}

/** `x.compact.jsonl` → `x.restored.jsonl`. */
export function restoredPath(path: string): string {
  const name = basename(path);
  const ending = ENDING.exec(name)?.[0] ?? '';
  const stem = (ending === '' ? name : name.slice(0, -ending.length)).replace(/\.compact$/i, '');
  return joinFolder(dirname(path), `${stem}.restored${ending === '' ? '.jsonl' : ending}`, path);
}

/** Keeps the shape in which the user gave the path: `x` stays without `./`, `./x` stays with it. */
function joinFolder(folder: string, name: string, like: string): string {
  if (folder === '.') return like.startsWith('./') ? `./${name}` : name;
  return like.startsWith('./') && !folder.startsWith('.') ? `./${join(folder, name)}` : joinPlain(folder, name);
}

function joinPlain(folder: string, name: string): string {
  return folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`;
}
