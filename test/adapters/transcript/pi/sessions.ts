import * as fc from 'fast-check';
import type { Json } from '../../../../src/ports/codec.ts';
import { assistant, compaction, entry, header, user } from './entries.ts';
import { type Fields } from '../reading.ts';

const TYPES = [
  'user',
  'assistant',
  'shell',
  'secret',
  'note',
  'branch',
  'thinking',
  'model',
  'name',
  'own',
  'compaction',
] as const;

type Shape = {
  readonly type: (typeof TYPES)[number];
  /** Lines back to the parent; 0: a parent that is not in the file; negative: a later line. Null: a root. */
  readonly back: number | null;
  /** Takes the id of this many lines back. */
  readonly repeats: number | null;
  /** Of a compaction: so many lines back stands what it keeps. */
  readonly keeps: number;
};

const shape: fc.Arbitrary<Shape> = fc.record({
  type: fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom<Shape['type']>('user', 'assistant') },
    { weight: 4, arbitrary: fc.constantFrom(...TYPES) },
    { weight: 1, arbitrary: fc.constant<Shape['type']>('compaction') },
  ),
  back: fc.oneof(
    { weight: 24, arbitrary: fc.constant(1) },
    { weight: 2, arbitrary: fc.integer({ min: 2, max: 5 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, -1, -2, null) },
  ),
  repeats: fc.oneof(
    { weight: 30, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 5 }) },
  ),
  keeps: fc.integer({ min: 0, max: 6 }),
});

/** Sessions of all versions with branches, circles, missing and later parents, ids that stand twice, and compactions of pi's own. */
export const sessions: fc.Arbitrary<readonly Json[]> = fc
  .record({ version: fc.constantFrom(null, 2, 3, 3, 3), shapes: fc.array(shape, { minLength: 1, maxLength: 18 }) })
  .map(({ version, shapes }) => {
    const idAt = (index: number): string => {
      const repeats = shapes[index]?.repeats ?? null;
      return `id-${repeats === null || index < repeats ? index : index - repeats}`;
    };
    const entries = shapes.map(({ type, back, keeps }, index) => {
      const target = index - (back ?? 0);
      const isInFile = back !== 0 && target >= 0 && target < shapes.length;
      const parentId = back === null || index === 0 ? null : isInFile ? idAt(target) : `gone-${target}`;
      const built = build(type, { index, link: [idAt(index), parentId], keptFrom: idAt(Math.max(0, index - keeps)) });
      return version === null ? withoutIds(built, Math.max(1, index + 1 - keeps)) : built;
    });
    return [header(version), ...entries];
  });

type Place = { readonly index: number; readonly link: readonly [string, string | null]; readonly keptFrom: string };

function build(type: Shape['type'], { index, link, keptFrom }: Place): Fields {
  const [id, parentId] = link;
  const shell = { role: 'bashExecution', command: 'ls', output: `file-${index}` };
  switch (type) {
    case 'user':
      return user(`asked ${index}`, link);
    case 'assistant':
      return assistant(`said ${index}`, link, { model: `m-${index % 3}` });
    case 'compaction':
      return compaction(keptFrom, link, `theirs ${index}`);
    case 'shell':
      return entry('message', id, parentId, { message: shell });
    case 'secret':
      return entry('message', id, parentId, { message: { ...shell, excludeFromContext: true } });
    case 'note':
      return entry('custom_message', id, parentId, { customType: 'x', content: `note ${index}`, display: true });
    case 'branch':
      return entry('branch_summary', id, parentId, { fromId: 'x', summary: index % 2 === 0 ? '' : `left ${index}` });
    case 'thinking':
      return entry('thinking_level_change', id, parentId, { thinkingLevel: `level-${index}` });
    case 'model':
      return entry('model_change', id, parentId, { provider: 'p', modelId: `m-${index}` });
    case 'name':
      return entry('session_info', id, parentId, { name: `name ${index}` });
    default:
      return entry('custom', id, parentId, { customType: 'x', data: { index } });
  }
}

/** As version 1 has it; a compaction counts entries, the header as 0. */
function withoutIds({ id: _id, parentId: _parentId, firstKeptEntryId, ...rest }: Fields, keptFrom: number): Fields {
  return firstKeptEntryId === undefined ? rest : { ...rest, firstKeptEntryIndex: keptFrom };
}
