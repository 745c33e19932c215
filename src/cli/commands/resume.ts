import type { ScanReport } from '../../app/survey/scan-file.ts';
import { toModel } from '../../config/resolve.ts';
import { parseCountOrZero } from '../../config/quantity.ts';
import { formatChange, formatCost, namePrices } from '../../messages/quantities.ts';
import { safeText } from '../../messages/text.ts';
import type { ReadyInput } from '../inputs/gather.ts';
import { chooseSession, SESSION_OPERANDS } from '../inputs/sessions.ts';
import { defineBareCommand } from '../line/command.ts';
import { FORMAT_FLAG, MODEL_FLAGS, OUTPUT_FLAGS, SETTINGS_FLAGS } from '../line/flags.ts';
import type { Line, OptionsOf } from '../line/line.ts';
import { spendingOf, spendingRows, sumTokens } from '../render/compact.ts';
import { inputOf, policyOf } from '../runs/compact.ts';
import { describeLaunch, describeMissing, findLaunch, inSessionBefore, planResumption } from '../runs/launch.ts';
import { createSummarizer } from '../runs/services.ts';
import type { Session } from '../session.ts';
import { EXIT_CODES, type ExitCode } from '../terminal/exit-codes.ts';
import type { Launch } from '../terminal/terminal.ts';

const DEFAULT_IF_OVER = 40_000;

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
  const { operands, options, passed = [] } = line;
  const chosen = await chooseSession(session, operands);
  if (typeof chosen === 'number') return chosen;
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
  const resumption = planResumption(session, { place, format, path: chosen.path, passed });
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
  if (user !== null) {
    reporter.error(
      `${name}: ${safeText(user.name)} (process ${user.processId}) has this session open. Go on there, or close it first.`,
    );
    return EXIT_CODES.failed;
  }
  if (options.dryRun === true) {
    const planned = await compactIfOver(session, { chosen, options });
    if (typeof planned === 'number') return planned;
    reporter.answer([planned, printed]);
    return EXIT_CODES.done;
  }
  const launch = findLaunch(session, { command: program.command, ...resumption });
  if (launch === null) {
    reporter.error(describeMissing(program));
    reporter.report(['Nothing was compacted or started. Once it is installed:', `  ${printed}`]);
    return EXIT_CODES.failed;
  }
  const compacted = await compactIfOver(session, { chosen, options });
  if (typeof compacted === 'number') return compacted;
  reporter.report([compacted, reporter.theme.faint(printed)]);
  start(launch);
  return EXIT_CODES.done;
}

type Compacting = { readonly chosen: ReadyInput; readonly options: ResumeLine['options'] };

/** Compacts the session, or plans it, if that is worth it. Gives what to say of it; a number is an exit code: the command is over. */
async function compactIfOver(session: Session, { chosen, options }: Compacting): Promise<string | ExitCode> {
  const { useCases, reporter, settings } = session;
  const { dryRun: isDryRun = false, ifOver = DEFAULT_IF_OVER, maxCost } = options;
  const policy = policyOf(session, { ifOver });
  const summarizer = await createSummarizer(session, { isDryRun, compaction: policy.compaction, maxCost });
  if (!summarizer.ok) return session.refuse(summarizer.error);
  reporter.progress.name(chosen.name);
  const common = { input: inputOf(chosen, options), policy, ...toModel(settings) };
  const request = { ...common, summarizer: summarizer.value, embeddings: null };
  const how = isDryRun
    ? ({ output: { kind: 'none' } } as const)
    : ({ output: { kind: 'in-place' }, minIdleMs: 0 } as const);
  const done = await useCases.compactFile({ ...request, ...how }, reporter.progress);
  if (!done.ok) return session.fail(done.error);
  const { result, reason, notes } = done.value;
  reporter.report(spendingRows(spendingOf(done.value), { isPlan: isDryRun }));
  const name = safeText(chosen.name);
  if (reason === 'in-use') {
    reporter.error(`${name}: ${safeText(notes.join('; '))}. Go on there, or close it first.`);
    return EXIT_CODES.failed;
  }
  if (result === 'skipped') return `${name}: ${safeText(notes.join('; '))}`;
  // A compacted file still names its model, and takes less time to read.
  const scanned = await useCases.scanFile(common, reporter.progress);
  const model = scanned.ok ? (scanned.value?.model ?? null) : null;
  const bound = isDryRun ? 'at most ' : '';
  return `${name}: ${await describeSaving(session, { model, tokens: sumTokens(done.value) }, bound)}`;
}

/** '120,000 → 14,000 tokens; the first request costs 0.32 USD less (list prices of 2026-11-01)'. */
async function describeSaving(
  { settings }: Session,
  measured: Pick<ScanReport, 'model'> & { readonly tokens: { readonly before: number; readonly after: number } },
  bound: string,
): Promise<string> {
  const change = `${formatChange(measured.tokens)} tokens`;
  const { loadPrices } = await import('../../compose/prices.ts');
  const { costOfReading } = await import('../runs/services.ts');
  const cost = costOfReading(measured, await loadPrices(settings.prices));
  if (cost === null) return change;
  const { currency, prices } = namePrices(cost.listedOn);
  return `${change}; the first request costs ${bound}${formatCost(cost.after)}${currency} instead of ${formatCost(cost.before)} (${prices})`;
}
