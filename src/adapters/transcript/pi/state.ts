import { isRecord, stringAt } from '../json.ts';
import type { JsonRecord } from '../json.ts';

/** A setting that pi finds in an entry when it reads a session. */
type Setting = {
  /** Its entry's id; undefined: it counts wherever it stands. */
  readonly id: string | undefined;
  readonly line: number;
  readonly record: JsonRecord;
};

/** What of a session's settings would be lost with the entries that leave. */
export type SessionState = {
  readonly note: (record: JsonRecord, place: { readonly id: string | undefined; readonly line: number }) => void;
  /** Entries to be written once more: of each setting the one in force, where it stands before `cutLine`. */
  readonly lostBefore: (cutLine: number, isOnPath: (id: string) => boolean) => readonly JsonRecord[];
};

/**
 * Level of thinking, model, name of the session, and the latest entry of each extension. Of the small ones all are remembered (a branch
 * that was left may hold the latest); of extensions', which may be large, the latest of each type.
 */
export function createSessionState(): SessionState {
  const settings = new Map<string, Setting[]>();
  const add = (name: string, setting: Setting, replaces: boolean): void => {
    const known = settings.get(name) ?? [];
    if (replaces) known.pop();
    known.push(setting);
    settings.set(name, known);
  };
  const noteModel = (setting: Setting): void => {
    const before = settings.get('model')?.at(-1)?.record;
    const { provider, modelId } = setting.record;
    add('model', setting, before?.['provider'] === provider && before?.['modelId'] === modelId);
  };
  return {
    note: (record, { id, line }) => {
      const place = { id, line };
      switch (record['type']) {
        case 'thinking_level_change':
          return add('thinking', { ...place, record }, false);
        case 'model_change':
          return noteModel({ ...place, record });
        case 'message': {
          const change = modelOf(record);
          return change === null ? undefined : noteModel({ ...place, record: change });
        }
        case 'session_info':
          return add('name', { line, id: undefined, record }, true);
        case 'custom':
          return add(`custom ${stringAt(record, 'customType') ?? ''}`, { ...place, record }, true);
      }
    },
    lostBefore: (cutLine, isOnPath) =>
      [...settings.values()].flatMap((known) => {
        const inForce = known.findLast(({ id }) => id === undefined || isOnPath(id));
        return inForce !== undefined && inForce.line < cutLine ? [inForce.record] : [];
      }),
  };
}

/** An answer tells which model was in use, as a change to it would. */
function modelOf({ message, timestamp = null }: JsonRecord): JsonRecord | null {
  if (!isRecord(message) || message['role'] !== 'assistant') return null;
  const provider = stringAt(message, 'provider');
  const modelId = stringAt(message, 'model');
  if (provider === undefined || modelId === undefined) return null;
  return { type: 'model_change', id: '', parentId: null, timestamp, provider, modelId };
}
