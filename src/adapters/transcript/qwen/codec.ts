import { countOf } from '../../../core/tokens.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, Detection, Json, RecordProblem } from '../../../ports/codec.ts';
import { findWorkingFolder, isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { legalCuts, type Path, readContext } from '../pi/context.ts';
import { findChain } from './context.ts';
import { decodeRecord, isQwenRecord } from './decode.ts';
import { listedTitle } from './listing.ts';
import { renderSummary } from './render.ts';

/** Sessions of Qwen Code: `~/.qwen/projects/<folder>/chats/<session id>.jsonl`. */
export const qwen: Codec = {
  format: {
    name: 'qwen',
    title: 'Qwen Code session',
    summary: 'Qwen Code sessions (~/.qwen/projects/*/chats/*.jsonl)',
    checked: 'compacted files resumed by Qwen Code 0.24.4, after a second compaction too',
    places: [
      { variable: 'QWEN_HOME', base: '.qwen', folder: 'projects/*/chats' },
      { variable: 'QWEN_RUNTIME_DIR', base: '.qwen', folder: 'projects/*/chats' },
    ],
    marksTyped: true,
    layout: { kind: 'lines', links: 'parents' },
  },
  detect: detectQwen,
  readProject: findWorkingFolder(),
  listedTitle,
  open: createSession,
};

function detectQwen(sample: readonly Json[]): Detection {
  const own = sample.filter((value) => isRecord(value) && isQwenRecord(value));
  if (own.length === 0) return { confidence: 0, reason: 'no record has a uuid, a parentUuid and parts or a subtype' };
  const isSure = own.some((value) => isRecord(value) && hasParts(value));
  const records = `${countOf(own.length, 'record')} of a session`;
  const confidence = own.length < sample.length / 2 ? 0.6 : isSure ? 1 : 0.9;
  return { confidence, reason: records };
}

function hasParts({ message }: JsonRecord): boolean {
  return isRecord(message) && isList(message['parts']);
}

/** What Qwen Code looks up in a session, wherever it is; the latest of each is repeated if it would leave. */
const SETTINGS = new Set(['custom_title', 'session_model', 'session_source', 'parent_session', 'goal_state']);

/** Remembers the settings of the session. */
function createSession(): CodecSession {
  const settings = new Map<string, { readonly line: number; readonly record: JsonRecord }>();
  let known: { readonly entries: readonly Entry[]; readonly path: Path } | null = null;
  const pathOf = (entries: readonly Entry[]): Path => {
    if (known?.entries !== entries) known = { entries, path: findChain(entries) };
    return known.path;
  };
  const observe = (value: Json, line: number): Decoded | RecordProblem => {
    const subtype = isRecord(value) && value['type'] === 'system' ? (stringAt(value, 'subtype') ?? '') : '';
    if (isRecord(value) && SETTINGS.has(subtype)) settings.set(subtype, { line, record: value });
    return decodeRecord(value, line);
  };
  return {
    observe,
    decode: decodeRecord,
    readContext: (entries) => readContext(pathOf(entries)),
    legalCuts: (entries) => legalCuts(pathOf(entries), 'Qwen Code'),
    renderSummary: (input) => {
      const id = isRecord(input.firstKept) ? input.firstKept['uuid'] : undefined;
      const cutLine = known?.path.entries.findLast(({ recordId }) => recordId === id)?.line ?? 0;
      const lost = [...settings.values()].filter(({ line }) => line < cutLine).map(({ record }) => record);
      return renderSummary(input, lost);
    },
  };
}
