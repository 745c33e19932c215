import { rmSync } from 'node:fs';
import { loadPrices } from '../../compose/services.ts';
import { toModel } from '../../config/resolve.ts';
import { parseCountOrZero } from '../../config/quantity.ts';
import { formatChange, formatCost, namePrices } from '../../messages/quantities.ts';
import { safeText } from '../../messages/text.ts';
import { exportSession, importCopy, isWholeCopy, keepExport } from '../inputs/opencode.ts';
import { chooseSession, type ChosenSession, SESSION_OPERANDS, takeExported } from '../inputs/sessions.ts';
import { defineBareCommand } from '../line/command.ts';
import { FORMAT_FLAG, MODEL_FLAGS, OUTPUT_FLAGS, SETTINGS_FLAGS } from '../line/flags.ts';
import type { Line, OptionsOf } from '../line/line.ts';
import { spendingOf, spendingRows, sumTokens } from '../render/compact.ts';
import { inputOf, policyOf } from '../runs/compact.ts';
import { describeLaunch, describeMissing, findLaunch, inSessionBefore, planResumption } from '../runs/launch.ts';
import { costOfReading, createSummarizer } from '../runs/services.ts';
import type { Session } from '../session.ts';
import { EXIT_CODES, type ExitCode } from '../terminal/exit-codes.ts';
import type { Launch } from '../terminal/terminal.ts';

const DEFAULT_IF_OVER = 40_000;
const MIN_SAVED_BY_COPY = 0.1;

const FLAGS = [
  { flags: '-n, --dry-run', description: 'show the plan; nothing is written or started', conflicts: 'maxCost' },
  { flags: '--print', description: 'print the command; nothing is written or started', conflicts: 'dryRun' },
  {
    flags: '--if-over <tokens>',
    description: `compact a session over so many tokens (${DEFAULT_IF_OVER})`,
    parse: parseCountOrZero,
  },
  ...MODEL_FLAGS,
  FORMAT_FLAG,
  ...SETTINGS_FLAGS,
  ...OUTPUT_FLAGS.filter(({ flags }) => flags !== '--json'),
] as const;

type ResumeLine = Line<OptionsOf<typeof FLAGS>>;

export const command = defineBareCommand({
  operands: SESSION_OPERANDS,
  flags: FLAGS,
  passesOn: true,
  examples: [
    ['compact resume', 'goes on with the newest session of this folder'],
    ['compact resume 6b6f4218 -- --model opus', 'goes on with this one, and passes an option to its program'],
  ],
  run: (context, line) => inSessionBefore(context, line, (session, start) => prepare(session, line, start)),
});

/** Compacts the session if that is worth it. `start` is told what to become then. */
async function prepare(session: Session, line: ResumeLine, start: (launch: Launch) => void): Promise<ExitCode> {
  const { reporter, useCases } = session;
  const { options, passed = [] } = line;
  const chosen = await chooseToResume(session, line);
  if (typeof chosen === 'number') return chosen;
  const { exported } = chosen;
  const input = inputOf(chosen, options);
  const isShown = options.dryRun === true || options.print === true;
  const located = await useCases.locateSession({ input, findsUser: !isShown });
  if (!located.ok) return session.fail(located.error);
  const { place, user } = located.value;
  const format = useCases.findFormat(located.value.format);
  const name = safeText(chosen.name);
  if (place === null) {
    const title = format?.title ?? located.value.format;
    return session.refuse(`${name}: no program goes on with this format (${title}); 'compact handoff' hands it to one`);
  }
  const { program } = place;
  const where = { format, path: chosen.path, isPrinted: exported !== undefined, passed };
  const planFor = (id: string | null) => planResumption(session, { ...where, place: { ...place, id } });
  const resumption = planFor(exported?.id ?? place.id);
  if (resumption === null)
    return session.refuse(
      `${name}: ${program.title} goes on with sessions by their ids, and the name of this file has none; 'compact handoff' begins a new one`,
    );
  const printed = describeLaunch(program.command, resumption);
  if (options.print === true) {
    if (resumption.doubt !== null) reporter.report([`${name}: be careful, because ${safeText(resumption.doubt)}.`]);
    reporter.answer([printed]);
    return EXIT_CODES.done;
  }
  if (resumption.doubt !== null) {
    reporter.error(`${name}: nothing is compacted or started, because ${safeText(resumption.doubt)}.`);
    reporter.report(['To go on with it yourself:']);
    reporter.answer([printed]);
    return EXIT_CODES.failed;
  }
  if (user !== null)
    return session.fail(
      `${name}: ${safeText(user.name)} (process ${user.processId}) has this session open. Go on there, or close it first.`,
    );
  const launch = findLaunch(session, { command: program.command, ...resumption });
  if (launch === null && !isShown) {
    reporter.error(describeMissing(program));
    reporter.report(['Nothing was compacted or started. Once it is installed:', `  ${printed}`]);
    return EXIT_CODES.failed;
  }
  const compacted = await compactIfOver(session, chosen, options);
  if (typeof compacted === 'number') return compacted;
  const copied = compacted.isShorter ? exported : undefined;
  const next = (copied && planFor(copied.copyId)) ?? resumption;
  const said = [
    compacted.said,
    ...(copied === undefined ? [] : [`${copied.copyId}: OpenCode gets this copy; ${copied.id} stays as it is`]),
  ];
  const command = describeLaunch(program.command, next);
  if (isShown || launch === null) {
    reporter.answer([...said, command]);
    return EXIT_CODES.done;
  }
  reporter.report([...said, reporter.theme.faint(command)]);
  const taken = copied === undefined ? null : await importCopy(session, copied, launch.folder);
  if (taken?.ok === false) {
    if (!session.terminal.signal.aborted) reporter.error(taken.error);
    return EXIT_CODES.failed;
  }
  start({ ...launch, args: next.args });
  return EXIT_CODES.done;
}

/** The session that the line names. If OpenCode has a compacted copy of it, and nothing was said in the session since, it is that copy. */
async function chooseToResume(session: Session, { operands, options }: ResumeLine): Promise<ChosenSession | ExitCode> {
  let chosen = await chooseSession(session, operands, { isCaptured: false });
  // A token has at least one byte: what is so short is not compacted.
  while (typeof chosen !== 'number' && chosen.exported !== undefined) {
    const { exported } = chosen;
    if (exported.sizeBytes <= (options.ifOver ?? DEFAULT_IF_OVER)) break;
    const copy = await exportSession(session, exported.copyId, { isCaptured: false });
    if (!copy.ok || !isWholeCopy(exported, copy.value)) break;
    session.reporter.report([`${exported.id}: it was compacted before; OpenCode has its copy ${exported.copyId}`]);
    chosen = takeExported(session, copy);
  }
  return chosen;
}

/** Compacts the session, or plans it, if that is worth it. `said`: what to say of it. A number is an exit code: the command is over. */
async function compactIfOver(
  session: Session,
  chosen: ChosenSession,
  options: ResumeLine['options'],
): Promise<{ readonly said: string; readonly isShorter: boolean } | ExitCode> {
  const { useCases, reporter, settings } = session;
  const { dryRun: isDryRun = false, ifOver = DEFAULT_IF_OVER, maxCost } = options;
  const { exported } = chosen;
  // Each copy stays in OpenCode.
  const policy = policyOf(session, { ifOver, ...(exported !== undefined && { minSaving: MIN_SAVED_BY_COPY }) });
  const summarizer = await createSummarizer(session, { isDryRun, compaction: policy.compaction, maxCost });
  if (!summarizer.ok) {
    const aside = options.model === undefined ? '' : `, or put --model behind -- to pass it to the session's program`;
    return session.refuse(`${summarizer.error}${aside}`);
  }
  reporter.progress.name(chosen.name);
  const kept = exported === undefined || isDryRun ? null : keepExport(session, exported);
  const input = inputOf({ ...chosen, path: kept ?? chosen.path }, options);
  const common = { input, policy, ...toModel(settings) };
  const how = isDryRun
    ? ({ output: { kind: 'none' } } as const)
    : ({ output: { kind: 'in-place' }, minIdleMs: 0 } as const);
  const request = { ...common, summarizer: summarizer.value, embeddings: null, ...how };
  const done = await useCases.compactFile(request, reporter.progress);
  if (!done.ok) return session.fail(done.error);
  const { result, reason, notes } = done.value;
  reporter.report(spendingRows(spendingOf(done.value), { isPlan: isDryRun }));
  const name = safeText(chosen.name);
  if (reason === 'in-use')
    return session.fail(`${name}: ${safeText(notes.join('; '))}. Go on there, or close it first.`);
  if (result === 'skipped' && kept !== null) rmSync(kept);
  if (result === 'skipped') return { said: `${name}: ${safeText(notes.join('; '))}`, isShorter: false };
  // A compacted file still names its model, and takes less time to read.
  const scanned = await useCases.scanFile(common, reporter.progress);
  const model = scanned.ok ? (scanned.value?.model ?? null) : null;
  const tokens = sumTokens(done.value);
  const change = `${name}: ${formatChange(tokens)} tokens`;
  const cost = costOfReading({ model, tokens }, await loadPrices(settings.prices));
  if (cost === null) return { said: change, isShorter: true };
  const { currency, prices } = namePrices(cost.listedOn);
  const after = `${isDryRun ? 'at most ' : ''}${formatCost(cost.after)}${currency}`;
  const saving = `the first request costs ${after} instead of ${formatCost(cost.before)} (${prices})`;
  return { said: `${change}; ${saving}`, isShorter: true };
}
