import * as fc from 'fast-check';
import type { Json } from '../../../../src/ports/codec.ts';
import { answer, compaction, compactionStart, type Event, meta, result, start, user, uuidOf } from './events.ts';
import { isoAt } from '../reading.ts';

const TYPES = [
  'user',
  'answer',
  'calls',
  'result',
  'shell',
  'side',
  'skill',
  'notice',
  'model',
  'asset',
  'schedule',
  'system',
  'start',
  'compaction',
  'failure',
  'unknown',
] as const;

type Shape = {
  readonly type: (typeof TYPES)[number];
  readonly which: number;
  /** The parent is no UUID, is none, or is that of an event so many lines back. */
  readonly parent: number | 'none' | 'odd';
};

const shape: fc.Arbitrary<Shape> = fc.record({
  type: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom<Shape['type']>('user', 'answer', 'calls', 'result') },
    { weight: 5, arbitrary: fc.constantFrom(...TYPES) },
    { weight: 2, arbitrary: fc.constantFrom<Shape['type']>('start', 'compaction') },
  ),
  which: fc.nat({ max: 3 }),
  parent: fc.oneof(
    { weight: 20, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.constantFrom<Shape['parent']>(2, 3, 'none', 'odd') },
  ),
});

/** Sessions with compactions of Copilot's own while the work goes on, subagents, settings, orphans and parents that are not there. */
export const sessions: fc.Arbitrary<readonly Json[]> = fc.array(shape, { minLength: 1, maxLength: 18 }).map((shapes) =>
  [start, ...shapes.map((one, index) => build(one, index + 1))].map((event, index) => ({
    ...event,
    id: uuidOf(index),
    timestamp: isoAt(index),
    parentId: parentOf(shapes[index - 1]?.parent ?? 'none', index),
  })),
);

function parentOf(parent: Shape['parent'], index: number): string | null {
  if (parent === 'none') return null;
  return parent === 'odd' ? 'no-uuid' : uuidOf(index - parent);
}

function build({ type, which }: Shape, n: number): Event {
  const call = `call-${which}`;
  switch (type) {
    case 'user':
      return user(`asked ${n}`);
    case 'answer':
      return answer(`said ${n}`);
    case 'calls':
      return answer(`called ${n}`, [call, `other-${n}`]);
    case 'result':
      return result(call, `result ${n}`);
    case 'shell':
      return result(`shell-${n}`, `printed ${n}`, { isUserRequested: true });
    case 'side':
      return which % 2 === 0
        ? { ...answer(`side ${n}`), agentId: 'a' }
        : result(call, 'side', { parentToolCallId: 'a' });
    case 'skill':
      return which % 2 === 0 ? user(`skill ${n}`, { source: 'skill-x' }) : meta('skill.invoked', { name: 'x', n });
    case 'notice':
      return meta('system.notification', { content: `notice ${n}`, kind: { type: 'shell_completed' } });
    case 'model':
      return meta('session.model_change', { newModel: `m-${n}` });
    case 'asset':
      return meta('session.binary_asset', { assetId: `a-${which}`, n });
    case 'schedule':
      return meta(which === 0 ? 'session.schedule_cancelled' : 'session.schedule_created', { id: which % 2, n });
    case 'system':
      return meta('system.message', { role: which === 0 ? 'developer' : 'system', content: `prompt ${n}` });
    case 'start':
      return compactionStart;
    case 'compaction':
      return compaction(`theirs ${n}`);
    case 'failure':
      return meta('session.compaction_complete', { success: false, error: 'no answer' });
    default:
      return meta('nobody.knows', { n });
  }
}
