import { err, ok, type Result } from '../../core/result.ts';
import type { Count, Sha256 } from '../../core/units.ts';
import type { Failure } from '../contract/failure.ts';
import type { FileReport, ReportedMessage } from '../contract/file-report.ts';
import type { BeforeAfter } from '../contract/reports.ts';

/** What became of each message of the original, and what the summary says instead. */
export type OutcomesReport = {
  readonly schema: 'compact/outcomes@1';
  /** The compacted file; in a plan the file that would be compacted. */
  readonly file: string;
  readonly format: string;
  /** Null in a plan: nothing was compacted. */
  readonly original: { readonly sha256: Sha256; readonly bytes: Count } | null;
  /** How many compactions lie between the two. */
  readonly cycles: Count;
  readonly bytes: { readonly before: Count; readonly after: Count | null };
  readonly tokens: BeforeAfter & { readonly by: string };
  /** In the order of the original, without its own summaries. */
  readonly messages: readonly MessageFate[];
  /** The lines of the summary; of several conversations, one after the other. */
  readonly summary: readonly string[];
};

/** `text`: its beginning, at most 400 characters. */
export type MessageFate = Omit<ReportedMessage, 'score' | 'terms' | 'isRequest' | 'chars'>;

const MAX_TEXT_CHARS = 400;

/** Without the original, or with an altered file, nothing can be said about the messages. */
export function listOutcomes(report: FileReport): Result<OutcomesReport, Failure> {
  const { file, format, state, bytes, tokens, messages, summaries } = report;
  if (state.kind === 'unproven') return err(state.failure);
  const verified = state.kind === 'planned' ? null : state.verified;
  const [problem] = verified?.problems ?? [];
  if (problem !== undefined)
    return err({ kind: 'altered', file, line: problem.line ?? null, problem: problem.message });
  return ok({
    schema: 'compact/outcomes@1',
    file,
    format,
    original: verified?.original ?? null,
    cycles: verified?.cycles ?? 0,
    bytes: { before: bytes.before ?? 0, after: bytes.after },
    tokens: { before: tokens.before ?? 0, after: tokens.after, by: tokens.by },
    messages: messages.map(toFate),
    summary: summaries.flatMap((lines) => lines.map(({ text }) => text)),
  });
}

function toFate(message: ReportedMessage): MessageFate {
  const { score: _score, terms: _terms, isRequest: _isRequest, chars: _chars, text, ...fate } = message;
  const start = Array.from(text.slice(0, 2 * MAX_TEXT_CHARS)).slice(0, MAX_TEXT_CHARS);
  return { ...fate, text: start.join('') };
}
