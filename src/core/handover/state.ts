import { lastStepLines, lastSteps } from './last-steps.ts';
import {
  commandName,
  type CompletedCall,
  errorLines,
  isRefused,
  lastChecks,
  lastFailure,
  outcomeOf,
  totalOf,
} from './calls.ts';
import { cutAtBlank } from './excerpt.ts';
import { type FileChange, shortNames } from './files.ts';
import { gitLines } from './git-state.ts';
import { charsOf, charsOfAll, type HandoverLine, quoted } from './line.ts';
import { condenseProse, readPieces } from './prose.ts';
import { isAnnouncement, isPondering } from './statements.ts';
import { offerOf } from './offers.ts';
import type { WordsAbove } from './requests.ts';
import { readCall } from './tool-call.ts';
import type { AssistantText, Conversation, Turn } from './turns.ts';

type Work = {
  readonly conversation: Conversation;
  readonly calls: readonly CompletedCall[];
  readonly files: readonly FileChange[];
};

const REPORT_SHARE = 0.62;

/** Shorter words stand with their request alone. */
const MIN_REPORT_CHARS = 240;

/** The turn whose closing report is quoted here, because it is the last one in which the assistant did something; null: there is none. */
function reportedTurn({ turns }: Conversation): Turn | null {
  const worked = turns.findLast(({ steps }) => steps.some(({ kind }) => kind === 'call'));
  const last = worked ?? lastTurn({ turns });
  const isLong = (last?.ending?.text.length ?? 0) > MIN_REPORT_CHARS;
  return last !== undefined && isLong && isFinished(last) ? last : null;
}

/** The turn whose words are quoted here, and which of them. */
export function wordsInState(conversation: Conversation): WordsAbove | null {
  const reported = reportedTurn(conversation);
  if (reported !== null) return { number: reported.number, quotes: 'report' };
  const last = lastTurn(conversation);
  return last === undefined || isFinished(last) ? null : { number: last.number, quotes: 'remarks' };
}

/** The state of the work at the end: the last request, the closing report, what is open, git, checks. */
export function writeStateLines(work: Work, maxChars: number): readonly HandoverLine[] {
  const facts = [
    ...questionLines(work.conversation),
    ...refusalLines(lastTurn(work.conversation)),
    ...taskLines(work.calls, lastTurn(work.conversation)?.number ?? 0),
    ...gitLines(work),
  ];
  const failures = failureLines(work.calls);
  const lines: HandoverLine[] = [];
  let left = maxChars;
  const add = (line: HandoverLine): void => {
    if (charsOf(line) > left) return;
    lines.push(line);
    left -= charsOf(line);
  };
  for (const line of requestLines(work.conversation, maxChars)) add(line);
  const factChars = charsOfAll([...facts, ...checkLines(work.calls, new Set()), ...failures]);
  const room = Math.max(left - factChars, Math.min(left, Math.floor(maxChars * REPORT_SHARE)));
  for (const line of reportLines(work, room)) add(line);
  const told = new Set(lines.flatMap(({ messageIds }) => messageIds));
  for (const line of [...facts, ...checkLines(work.calls, told), ...failures]) add(line);
  return lines;
}

/** The last turn of which something left; requests at the end that stay have none of their work here. */
function lastTurn({ turns }: Pick<Conversation, 'turns'>): Turn | undefined {
  return turns.findLast(({ request, steps }) => request?.isKept !== true || steps.length > 0);
}

/** Whether the assistant had the last word, and it was no announcement of more. */
function isFinished({ steps }: Turn): boolean {
  const last = steps.findLast(({ kind }) => kind !== 'note' && kind !== 'summary');
  return last?.kind === 'said' && !isAnnouncement(last.text.trim().split('\n').at(-1) ?? '');
}

const MAX_LAST_REQUEST_CHARS = 280;
const LAST_REQUEST_SHARE = 0.3;
const INTERRUPTED = /\[Request interrupted by user|<turn_aborted>|The user interrupted|^Operation aborted/i;

function wasInterrupted({ steps }: Turn): boolean {
  const last = steps.at(-1);
  if (last?.kind !== 'note' && last?.kind !== 'result') return false;
  const at = INTERRUPTED.exec(last.text.slice(0, 400).trimStart())?.index;
  // A result may quote such a line.
  return last.kind === 'note' ? at !== undefined : at === 0;
}

function requestLines({ turns }: Conversation, roomChars: number): readonly HandoverLine[] {
  const last = turns.findLast(({ request }) => request !== null);
  if (last === undefined || last.request === null) return [];
  const state =
    last.request.isKept === true
      ? 'kept word for word'
      : wasInterrupted(last)
        ? 'interrupted by the user'
        : isFinished(last)
          ? 'answered'
          : 'not finished: the assistant was still working on it';
  const maxChars = Math.min(MAX_LAST_REQUEST_CHARS, Math.floor(roomChars * LAST_REQUEST_SHARE));
  const typed = withoutLogs(last.request.text).trim();
  // The whole of it stands below.
  const words = typed.length <= maxChars ? typed : cutAtBlank(typed.replace(/\s+/g, ' '), maxChars);
  const offer = offerOf(last, turns.slice(0, turns.indexOf(last)).toReversed());
  return [
    { text: `Last request (${last.number}): “${quoted(words)}” — ${state}.`, messageIds: [last.request.messageId] },
    ...(offer === null ? [] : [offer]),
  ];
}

/** A line that a program logged: it begins with a time. */
const LOGGED_LINE = /^\W{0,2}(?:\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d)/;

/** The text with only the first line of each pasted log. */
function withoutLogs(text: string): string {
  const lines = text.split('\n');
  return lines.filter((line, at) => !LOGGED_LINE.test(line) || !LOGGED_LINE.test(lines[at - 1] ?? '')).join('\n');
}

function reportLines({ conversation, calls }: Work, maxChars: number): readonly HandoverLine[] {
  const reported = reportedTurn(conversation);
  if (reported?.ending !== null && reported !== null) {
    const { messageId, text } = reported.ending;
    const label =
      reported === lastTurn(conversation) ? 'Closing report' : `Closing report of request ${reported.number}`;
    const body = condenseProse(text, maxChars - label.length - 2);
    return body === '' ? [] : [{ text: `${label}: ${quoted(body, '  ')}`, messageIds: [messageId] }];
  }
  const turn = lastTurn(conversation);
  return turn === undefined || isFinished(turn) ? [] : progressLines(turn, { calls, maxChars });
}

const MAX_REMARK_CHARS = 420;
/** Of what an unfinished turn has found, the newest report gets most of the room. */
const LONG_REMARK_CHARS = 600;
const LONG_REMARK_SHARE = 0.6;
const MAX_REMARKS = 5;
/** Of the room for what an unfinished turn has found. */
const STEPS_SHARE = 0.4;

/** What an unfinished turn has found and done: its newest remarks, the files that it changed, its last words and its last call. */
function progressLines(
  turn: Turn,
  { calls, maxChars }: { readonly calls: readonly CompletedCall[]; readonly maxChars: number },
): readonly HandoverLine[] {
  const own = calls.filter((done) => done.turn === turn.number);
  const written = [...new Set(own.flatMap(({ call, hasFailed }) => (hasFailed ? [] : call.written)))];
  const lastSaid = turn.steps.findLast((step) => step.kind === 'said');
  const ends: HandoverLine[] = [
    ...(written.length === 0
      ? []
      : [
          {
            text: `Changed for it so far: ${shortNames(written).join(', ')}`,
            messageIds: [],
          },
        ]),
    ...(lastSaid === undefined
      ? []
      : [
          {
            text: `Its last words: “${quoted(condenseProse(lastSaid.text, MAX_REMARK_CHARS))}”`,
            messageIds: [lastSaid.messageId],
          },
        ]),
    ...lastStepLines(lastSteps(own), Math.floor(maxChars * STEPS_SHARE)),
  ];
  const room = maxChars - charsOfAll(ends) - REMARKS.length - 1;
  const said = turn.steps.filter((step): step is AssistantText => step.kind === 'said' && step !== lastSaid);
  const report = said.findLast(({ text }) => text.length >= LONG_REMARK_CHARS && !isPondering(text.trim()));
  const lines = new Map<AssistantText, HandoverLine>();
  let left = room;
  // The report first, then the newest remarks.
  for (const step of [...(report === undefined ? [] : [report]), ...said.toReversed()]) {
    if (lines.size >= MAX_REMARKS || lines.has(step)) continue;
    const chars = step === report ? Math.max(MAX_REMARK_CHARS, Math.floor(room * LONG_REMARK_SHARE)) : MAX_REMARK_CHARS;
    const text = remarkOf(step, chars);
    const line = { text: `- ${quoted(text, '    ')}`, messageIds: [step.messageId] };
    if (text === '' || charsOf(line) > left || [...lines.values()].some((other) => other.text === line.text)) continue;
    left -= charsOf(line);
    lines.set(step, line);
  }
  const remarks = said.flatMap((step) => lines.get(step) ?? []);
  return [...(remarks.length === 0 ? [] : [{ text: REMARKS, messageIds: [] }, ...remarks]), ...ends];
}

const REMARKS = 'Remarks of the assistant while it worked:';

function remarkOf({ text }: AssistantText, maxChars: number): string {
  const telling = readPieces(text).some(
    ({ kind, text: said }) => kind !== 'lead' && !isAnnouncement(said) && !isPondering(said),
  );
  if (isPondering(text.trim())) return '';
  return telling ? condenseProse(text, maxChars, 0) : '';
}

const QUESTION = /[?？؟]["'”’)\]*_]*$/;

function questionLines({ turns }: Conversation): readonly HandoverLine[] {
  const last = turns.at(-1);
  if (last === undefined || last.ending === null || !isFinished(last)) return [];
  const { ending } = last;
  const words = readPieces(ending.text).at(-1)?.text ?? '';
  if (!QUESTION.test(words)) return [];
  return [{ text: `Waits for an answer: “${quoted(cutAtBlank(words, 400))}”`, messageIds: [ending.messageId] }];
}

const MAX_REFUSED = 2;
const MAX_REFUSED_CHARS = 160;

/** The last calls of the last turn that the user did not allow. Any tool can forge such results. */
function refusalLines(turn: Turn | undefined): readonly HandoverLine[] {
  const steps = turn?.steps ?? [];
  const refused = new Set(steps.flatMap((step) => (step.kind === 'result' && isRefused(step) ? [step.callId] : [])));
  const calls = steps.filter((step) => step.kind === 'call' && refused.has(step.callId));
  return calls.slice(-MAX_REFUSED).flatMap((step): readonly HandoverLine[] => {
    if (step.kind !== 'call') return [];
    const { command, about } = readCall(step);
    const what = cutAtBlank((command ?? about[0] ?? '').replace(/\s+/g, ' '), MAX_REFUSED_CHARS);
    const text = `Refused, as its result tells: ${step.name}${what === '' ? '' : ` \`${quoted(what)}\``}`;
    return [{ text, messageIds: [step.messageId] }];
  });
}

const MAX_TASKS = 30;
const MAX_TASK_CHARS = 160;
const MAX_DONE_CHARS = 300;
const MAX_STATUS_CHARS = 30;

function taskLines(calls: readonly CompletedCall[], lastTurnNumber: number): readonly HandoverLine[] {
  const last = calls.findLast(({ call }) => call.task !== null || (call.tasks !== null && call.tasks.length > 0));
  if (last === undefined) return [];
  const tasks = last.call.tasks ?? collectTasks(calls);
  if (tasks.length === 0) return [];
  const isDone = ({ status }: { readonly status: string }): boolean => /^(?:completed|done|finished)$/i.test(status);
  const open = tasks.filter((task) => !isDone(task));
  const { messageIds } = last;
  const head = `Tasks, as last written (${tasks.length - open.length} of ${tasks.length} done)`;
  const done = tasks.filter(isDone).map(({ text }) => text.trim());
  const named = done.length === 0 ? '' : `; done: ${cutAtBlank(done.join('; '), MAX_DONE_CHARS)}`;
  // A list that was done before the last request says nothing of what is open.
  if (open.length === 0) return last.turn < lastTurnNumber ? [] : [{ text: quoted(head + named), messageIds }];
  return [
    { text: quoted(`${head}${named}; open:`), messageIds },
    ...open.slice(0, MAX_TASKS).map(({ text, status }) => {
      const state = /^(?:|pending|todo|open)$/i.test(status)
        ? ''
        : `(${cutAtBlank(status.replace(/_/g, ' '), MAX_STATUS_CHARS)}) `;
      return { text: quoted(`- ${state}${cutAtBlank(text.trim(), MAX_TASK_CHARS)}`), messageIds };
    }),
  ];
}

/** The tasks that calls added and changed one by one. The answer to a new one tells its number. */
function collectTasks(calls: readonly CompletedCall[]): readonly { readonly text: string; readonly status: string }[] {
  const tasks = new Map<string, { readonly text: string; readonly status: string }>();
  for (const { call, answer, hasFailed } of calls) {
    if (call.task === null || hasFailed) continue;
    const { text, status } = call.task;
    const id = call.task.id ?? /#(\d{1,6})\b/.exec(answer ?? '')?.[1] ?? String(tasks.size + 1);
    const known = tasks.get(id);
    tasks.set(id, { text: text ?? known?.text ?? '', status: status ?? known?.status ?? '' });
  }
  // A task that was named before these messages says nothing by its number.
  return [...tasks.values()].filter(({ text, status }) => text !== '' && status !== 'deleted');
}

/** The last check of each kind, how it ended and how many files were changed afterwards; what it printed, if no step above has told its result. */
function checkLines(calls: readonly CompletedCall[], told: ReadonlySet<string>): readonly HandoverLine[] {
  const checks = lastChecks(calls);
  if (checks.length === 0) return [];
  const texts = checks.map((done) => {
    const total = totalOf(done);
    const since = new Set(
      calls.slice(calls.indexOf(done) + 1).flatMap(({ call, hasFailed }) => (hasFailed ? [] : call.written)),
    );
    const names = shortNames([...since]);
    const changed = names.length <= MAX_NAMED ? names.join(', ') : `${names.length} files`;
    const after = since.size === 0 ? '' : `, ${changed} changed since`;
    const outcome = outcomeOf(done) ?? '';
    const errors = outcome === 'failed' ? errorLines(done.answer ?? '', MAX_CHECK_ERRORS) : [];
    const lines = told.has(done.result?.messageId ?? '')
      ? []
      : [...new Set([...(total === null ? [] : [total]), ...errors])];
    const said = lines.map((line) => `“${line}”`).join(' ');
    return `\`${commandName(done)}\` ${outcome}${said === '' ? '' : ` (${said})`}${after}`;
  });
  const messageIds = checks.flatMap((done) => done.messageIds);
  if (texts.length === 1) return [{ text: `Last checks: ${quoted(texts.join(''))}`, messageIds }];
  return ['Last checks, in order:', ...texts.map((text) => `- ${quoted(text)}`)].map((text) => ({ text, messageIds }));
}

const MAX_NAMED = 3;
const MAX_CHECK_ERRORS = 3;
const MAX_ERROR_LINES = 5;

function failureLines(calls: readonly CompletedCall[]): readonly HandoverLine[] {
  const last = lastFailure(calls);
  // The last checks tell how they failed.
  if (last === undefined || lastChecks(calls).includes(last)) return [];
  const { messageIds } = last;
  return [
    { text: `Last failing command: \`${quoted(commandName(last))}\``, messageIds },
    ...errorLines(last.answer ?? '', MAX_ERROR_LINES).map((line) => ({ text: `   > ${line}`, messageIds })),
  ];
}
