import type { ShownOriginal } from '../../app/search/show-archived.ts';
import { defineCommand, type Session, EXIT_CODES, type ExitCode } from '../line/command.ts';
import { COMMON_FLAGS } from '../line/flags.ts';
import { reportJson, safeText, textLines } from '../../messages/text.ts';
import type { BatchShown, CompactionShown, MessageShown, ShowReport } from '../../app/contract/archive-reports.ts';
import type { BatchReport } from '../../app/contract/reports.ts';
import { formatBatch } from '../../core/batch.ts';
import { countOf } from '../../messages/quantities.ts';
import type { Theme } from '../render/theme.ts';

export const command = defineCommand({
  operands: {
    syntax: '<name>',
    description:
      "a label or its beginning, a name from a search, a message's id, or the key in a clip-archive's last line",
  },
  flags: [{ flags: '--messages', description: 'the original lines, byte for byte' }, ...COMMON_FLAGS],
  examples: [
    ['compact show message:1', 'shows a message that a search found'],
    ['compact show batch:1 --messages', 'prints the original lines behind a summary'],
  ],
  session: { needs: ['archive'], endsWithStdout: true },
  run: async (session, { operands: [name = ''], options }) => {
    if (options.messages === true) return showOriginals(session, name);
    const shown = await session.useCases.showArchived({ name });
    if (!shown.ok) return session.fail(shown.error);
    session.answer(shown.value, () => renderShown(shown.value, session.reporter.answerTheme));
    return EXIT_CODES.done;
  },
});

const LF = 0x0a;

/** stdout gets only the lines: as bytes, or as one report per line. */
async function showOriginals(session: Session, name: string): Promise<ExitCode> {
  const { reporter, useCases, terminal } = session;
  const { json } = session.asked.outputOptions;
  const print = async ({ bytes, report }: ShownOriginal): Promise<boolean> => {
    reporter.answerPiece(json ? reportJson(await report()) : bytes);
    if (!json && bytes.at(-1) !== LF) reporter.answerPiece('\n');
    return !terminal.stdout.isClosed();
  };
  const shown = await useCases.showOriginals({ name }, print);
  if (terminal.stdout.isClosed()) return EXIT_CODES.done;
  if (!shown.ok) return session.fail(shown.error);
  if (shown.value === 0) reporter.report(['It has no original lines: this summary was already in the transcript.']);
  return EXIT_CODES.done;
}

/** What it is and where it comes from; after an empty line its text, a batch as one text (`formatBatch`). */
export function renderShown(report: ShowReport, theme: Theme): readonly string[] {
  if (report.kind === 'batch') return renderBatch(report, theme);
  return report.kind === 'compaction' ? renderCompaction(report, theme) : renderMessage(report, theme);
}

function renderBatch(batch: BatchShown, theme: Theme): readonly string[] {
  const { label, show, conversation, cycle, depth, start, end, count, text, replacedBy, isLive } = batch;
  const toDate = (iso: string | null): Date | null => (iso === null ? null : new Date(iso));
  const times = { startTime: toDate(start), endTime: toDate(end) };
  const replaced = replacedBy.map((other) => `  replaced by ${safeText(other)}`);
  return [
    theme.strong(safeText(label)),
    `  ${show}, made by cycle ${cycle} of conversation ${safeText(conversation)}`,
    `  from ${safeText(batch.file)} (${safeText(batch.format)}), archived ${safeText(batch.archivedAt)}`,
    ...sourceLines(batch),
    ...replaced,
    ...(isLive || replaced.length > 0 ? [] : [`  ${theme.faint('no clip-archive refers to it any more')}`]),
    '',
    ...textLines(formatBatch({ content: text, depth, ...times, messageCount: count })),
  ];
}

function renderCompaction(compaction: CompactionShown, theme: Theme): readonly string[] {
  const { show, file, format, archivedAt, conversations, lines, batches } = compaction;
  return [
    theme.strong(safeText(show)),
    `  a compaction of ${safeText(file)} (${safeText(format)}), archived ${safeText(archivedAt)}`,
    ...conversations.map(({ id, cycle }) => `  conversation ${safeText(id)}, cycle ${cycle}`),
    `  ${lines.archived} of ${countOf(lines.total, 'line')} left the transcript (--messages gives them)`,
    ...(batches.length === 0 ? [] : ['', ...batches.map(describeBatch)]),
  ];
}

function sourceLines({ sources, count, indices }: BatchShown): readonly string[] {
  if (sources.length > 0) return ['  made from', ...sources.map((source) => `    ${describeBatch(source)}`)];
  const range = indices === null ? '' : ` (${indices.first} to ${indices.last} of the conversation)`;
  return [`  made from ${countOf(count, 'message')}${range}`];
}

function describeBatch({ label, depth, count }: BatchReport): string {
  return `${safeText(label)} (depth ${depth}, ${countOf(count, 'message')})`;
}

function renderMessage(message: MessageShown, theme: Theme): readonly string[] {
  const { show, role, name, at, index, conversation, line, label } = message;
  const speaker = [role ?? 'no message', ...(name === null ? [] : [name])].map(safeText).join(' ');
  const facts = [
    speaker,
    ...(at === null ? [] : [safeText(at)]),
    ...(index === null ? [] : [`message ${index}`]),
    ...(conversation === null ? [] : [`conversation ${safeText(conversation)}`]),
  ];
  return [
    `${theme.strong(show)}${message.id === null ? '' : `  ${safeText(message.id)}`}`,
    `  ${facts.join(', ')}`,
    `  from line ${line} of ${safeText(message.file)} (${safeText(message.format)}), archived ${safeText(message.archivedAt)}`,
    ...(label === null ? [] : [`  summarized in ${safeText(label)}`]),
    '',
    ...(message.text === '' ? [theme.faint('(no text; --messages gives the line as it is)')] : textLines(message.text)),
  ];
}
