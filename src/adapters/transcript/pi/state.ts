import { isRecord, type JsonRecord, stringAt } from '../json.ts';

/** A setting that pi finds in an entry when it reads a session. */
type Setting = { readonly line: number; readonly record: JsonRecord };

/** What of a session's settings would be lost with the entries that leave. */
export type SessionState = {
  readonly note: (record: JsonRecord, line: number) => void;
  /**
   * Entries to be written once more: of each setting the one in force, where it stands before `cutLine`. `stepOf` tells of an entry's line how
   * many entries there are from the end of the path to it.
   */
  readonly lostBefore: (cutLine: number, stepOf: ReadonlyMap<number, number>) => readonly JsonRecord[];
};

/** The one setting that counts wherever it stands. */
const NAME = 'session_info';

/**
 * Level of thinking, model, name of the session, and the latest entry of each extension. Of the small ones all are remembered (a branch
 * that was left may hold the latest); of extensions', which may be large, the latest of each type.
 */
export function createSessionState(): SessionState {
  const settings = new Map<string, Setting[]>();
  const add = (name: string, setting: Setting): void => {
    const known = settings.get(name);
    if (known === undefined) settings.set(name, [setting]);
    else known.push(setting);
  };
  const noteModel = (record: JsonRecord, line: number): void => {
    const before = settings.get('model')?.at(-1)?.record;
    const isSame = before?.['provider'] === record['provider'] && before?.['modelId'] === record['modelId'];
    add('model', { line, record: isSame && before !== undefined ? before : record });
  };
  return {
    note: (record, line) => {
      switch (record['type']) {
        case 'thinking_level_change':
          return add('thinking', { line, record });
        case 'model_change':
          return noteModel(record, line);
        case 'message': {
          const change = modelOf(record);
          return change === null ? undefined : noteModel(change, line);
        }
        case NAME:
          return void settings.set(NAME, [{ line, record }]);
        case 'custom':
          return void settings.set(`custom ${stringAt(record, 'customType') ?? ''}`, [{ line, record }]);
      }
    },
    lostBefore: (cutLine, stepOf) =>
      [...settings].flatMap(([name, known]) => {
        const step = ({ line }: Setting): number =>
          name === NAME ? 0 : (stepOf.get(line) ?? Number.POSITIVE_INFINITY);
        const inForce = known.reduce((best, one) => (step(one) < step(best) ? one : best));
        return step(inForce) < Number.POSITIVE_INFINITY && inForce.line < cutLine ? [inForce.record] : [];
      }),
  };
}

/** An answer tells which model was in use, as a change to it would. */
function modelOf({ message, timestamp = null }: JsonRecord): JsonRecord | null {
  if (!isRecord(message) || message['role'] !== 'assistant') return null;
  const provider = stringAt(message, 'provider');
  const modelId = stringAt(message, 'model');
  if (provider === undefined || modelId === undefined) return null;
  return { type: 'model_change', timestamp, provider, modelId };
}
