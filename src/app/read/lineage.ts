import { clipArchiveBody, parseClipArchiveHead } from '../../core/clip-archive.ts';
import { type ParsedRules, parseRules } from '../../core/handover/rule-section.ts';
import type { ConversationMessage } from '../../core/message.ts';
import type { PlanMessage } from '../../core/plan/view.ts';
import type { ImportanceScoringConfig } from '../../core/policy.ts';
import { createFeatureReader } from '../../core/scoring.ts';
import type { Archive, StoredCycle } from '../../ports/archive.ts';
import type { Codec, CodecSession } from '../../ports/codec.ts';
import type { FormatRegistry } from '../../ports/formats.ts';
import { toEntry } from './index-records.ts';
import { parseRecord, trimRecord } from './records.ts';

/**
 * What stands behind the summary found in a transcript (L8). lineage: the archive has the record that wrote it. foreign: another
 * program's summary, or ours (`isOurs`) with its archive elsewhere; it is kept as a batch of its own.
 */
export type Prior =
  | { readonly kind: 'none' }
  | { readonly kind: 'lineage'; readonly cycle: StoredCycle; readonly text: string }
  | {
      readonly kind: 'foreign';
      readonly text: string;
      readonly isOurs: boolean;
      /** Of ours: the rules above its batches, which `text` is without. */
      readonly rules: Pick<ParsedRules, 'rules' | 'dropped'>;
      readonly messages: number;
      readonly cycles: number;
    };

/** No conversation has more messages or cycles: a summary that says so is somebody's text. */
const MAX_BELIEVED = 1_000_000_000;

const NO_RULES = { rules: [], dropped: [] };

/**
 * A foreign summary that tells its counts is believed; a producer's own stands for the messages before it, in one cycle. Its rules are believed
 * only where its record is marked as a summary (`isMarked`): elsewhere a person could have pasted it as a message.
 */
export function foreignPrior(
  text: string,
  { staleMessageCount, isMarked }: { readonly staleMessageCount: number; readonly isMarked: boolean },
): Prior {
  const head = parseClipArchiveHead(text);
  if (head === null || Math.max(head.messages, head.cycles) > MAX_BELIEVED)
    return { kind: 'foreign', text, isOurs: false, rules: NO_RULES, messages: staleMessageCount, cycles: 1 };
  const { messages, cycles } = head;
  const body = clipArchiveBody(text) ?? text;
  if (!isMarked) return { kind: 'foreign', text: body, isOurs: true, rules: NO_RULES, messages, cycles };
  const { rest, ...rules } = parseRules(body);
  return { kind: 'foreign', text: rest, isOurs: true, rules, messages, cycles };
}

/** A message that stands word for word in an earlier clip-archive, as the plan and the summarizer see it. */
export type CarriedMessage = { readonly plan: PlanMessage; readonly message: ConversationMessage };

export function readCarried(
  archive: Archive,
  cycle: StoredCycle,
  read: {
    readonly formats: FormatRegistry;
    readonly codec: Codec;
    readonly session: CodecSession;
    readonly scoring: ImportanceScoringConfig;
  },
): readonly CarriedMessage[] {
  const readFeatures = createFeatureReader(read.scoring);
  return archive.readSurvivors(cycle.id).map((stored): CarriedMessage => {
    const parsed = parseRecord(read.formats, read.codec, trimRecord(read.codec, stored.bytes));
    const decoded = parsed.ok ? read.session.decode(parsed.value, stored.line) : null;
    if (decoded === null || 'problem' in decoded || decoded.message === undefined) {
      throw new Error(
        `line ${stored.line} of the archive, which was a message when it left, can no longer be read as one`,
      );
    }
    const entry = toEntry(decoded, { line: 0, start: 0, length: stored.bytes.length }, readFeatures);
    return { plan: { ...entry, kind: 'message', carriedLineId: stored.id }, message: decoded.message };
  });
}
