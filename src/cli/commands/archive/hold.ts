import type { HoldRequest } from '../../../app/archive/holds.ts';
import type { HoldScope } from '../../../ports/retention.ts';
import { renderHolds } from '../../render/archive.ts';
import { defineAction, EXIT_CODES, type Session, type Line, type OptionsOf } from '../../line/command.ts';
import { reportUnfinished } from './erase.ts';
import { readSelectors, REASON_FLAG, reportMissing, SELECTOR_FLAGS } from './shared.ts';

const HOLD_FLAGS = [...SELECTOR_FLAGS, REASON_FLAG] as const;

export const holdAction = defineAction({
  summary: 'protect conversations from erase and prune',
  flags: HOLD_FLAGS,
  takes: [{ syntax: '[change]', description: 'add, remove or list' }],
  refuseOperands: ([change = 'list', ...more]) =>
    ['add', 'remove', 'list'].includes(change) && more.length === 0 ? null : 'archive hold takes add, remove or list',
  findConflict: ({ operands: [change = 'list'], options }) => {
    const selectors = readSelectors(options);
    if (change === 'list')
      return selectors.length > 0 ? 'archive hold list takes no --conversation and no --source' : null;
    const empty = selectors.find((selector) => Object.values(selector).includes(''));
    if (empty !== undefined) return `--${empty.kind} must not be empty`;
    return selectors.length === 1 && selectors.flatMap(toScope).length === 1
      ? null
      : `archive hold ${change} takes either --conversation or --source`;
  },
  run: async (session: Session, asked) => {
    const { useCases, reporter } = session;
    const changed = await useCases.changeHolds(toRequest(asked));
    if (!changed.ok) return session.fail(changed.error);
    const { result, isPurged } = changed.value;
    session.answerUnlessQuiet(changed.value, () => renderHolds(changed.value));
    reportMissing(session, changed.value);
    if (result === 'missing') reporter.error("there is no such hold. 'compact archive hold list' shows them all.");
    if (!isPurged) reportUnfinished(session);
    return result === 'missing' || !isPurged ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});

function toRequest({ operands: [change], options }: Line<OptionsOf<typeof HOLD_FLAGS>>): HoldRequest {
  const scope = readSelectors(options).flatMap(toScope)[0];
  if (scope === undefined || change === undefined || change === 'list') return { kind: 'list' };
  return change === 'add' ? { kind: 'add', scope, reason: options.reason ?? null } : { kind: 'remove', scope };
}

function toScope(selector: ReturnType<typeof readSelectors>[number]): readonly HoldScope[] {
  if (selector.kind === 'conversation') return [{ kind: 'conversation', value: selector.id }];
  return selector.kind === 'source' ? [{ kind: 'source', value: selector.glob }] : [];
}
