import { groupFactsOf, type PlanMessage, viewConversation } from '../../core/plan/view.ts';
import { findGroups } from '../../core/tool-groups.ts';
import type { StoredCompaction } from '../../ports/archive.ts';
import { keptLineLookup } from '../compact/recipe.ts';
import type { VerifyProblem } from '../contract/reports.ts';
import { splitConversations } from '../read/conversations.ts';
import type { Stage } from '../read/locate.ts';

/** No call of the original stands on one side of the cut and its result on the other; a chain of parents leads to the summary. */
export function checkGroups(original: Stage, compaction: StoredCompaction): readonly VerifyProblem[] {
  const { codec, session, scan } = original;
  const isKept = keptLineLookup(compaction);
  const { conversations } = splitConversations({
    entries: scan.entries.slice(0, compaction.source.lineCount),
    codec,
    session,
    conversation: '',
    hashLine: () => '',
    hashText: () => '',
  });
  return conversations.flatMap(({ entries, context, cutProblem }): readonly VerifyProblem[] => {
    const { messages } = viewConversation({ entries, ...context, carried: [], keepSystem: true });
    const firstKept = messages.find((message) => isKept(message.line));
    const isWhole = messages.every((message) => isKept(message.line));
    const mayBreak = codec.format.isChain && !isWhole;
    const broken = mayBreak && firstKept !== undefined ? cutProblem(firstKept.line) : null;
    return [
      ...partedGroups(messages, isKept),
      ...(broken === null
        ? []
        : [{ kind: 'broken-chain', message: `the kept part begins at line ${firstKept?.line}: ${broken}` } as const]),
    ];
  });
}

function partedGroups(messages: readonly PlanMessage[], isKept: (line: number) => boolean): readonly VerifyProblem[] {
  const groups = findGroups(messages.map(groupFactsOf));
  return messages.flatMap((message, index): readonly VerifyProblem[] => {
    const first = messages[groups[index] ?? index];
    if (first === undefined || isKept(first.line) === isKept(message.line)) return [];
    return [
      {
        kind: 'parted-group',
        message: `lines ${first.line} and ${message.line} of the original belong together, one is kept and one is not`,
      },
    ];
  });
}
