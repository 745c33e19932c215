import type { TranscriptPolicy } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import { createLoader, readStale } from '../compact/summarize-conversation.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { readTranscript } from '../read/prepare.ts';
import { standingRules } from '../summarize/rules-and-requests.ts';

export type ReadRulesRequest = { readonly input: TranscriptInput; readonly policy: TranscriptPolicy };

/** The section of the user's standing rules that a summary of a whole transcript would have; '' without rules. Reads no archive. */
export async function readRules(deps: AppDeps, { input, policy }: ReadRulesRequest): Promise<Result<string, Failure>> {
  return attempt({ file: input.name, progress: deps.progress }, async () => {
    const read = await readTranscript(deps, input, { policy, archive: async () => ok(null) });
    if (!read.ok) return read;
    const sections: string[] = [];
    try {
      for (const prepared of read.value.conversations) {
        const { view, prior, compressedBefore } = prepared;
        const section = await standingRules(
          {
            prior,
            compressedBefore,
            chunks: [[...view.messages.keys()]],
            load: createLoader(read.value, prepared),
            readStale: () => readStale(read.value, prepared),
            isTyped: (index) => view.messages[index]?.typedTokens !== undefined,
            config: policy.compaction,
          },
          async () => ({ typed: [] }),
        );
        if (section !== null) sections.push(section);
      }
    } finally {
      read.value.source.close();
    }
    return ok(sections.join('\n\n'));
  });
}
