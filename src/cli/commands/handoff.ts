import type { HandoffReport } from '../reports.ts';
import { parseCount } from '../../config/quantity.ts';
import { reportJson, safeText } from '../../messages/text.ts';
import { chooseSession } from '../inputs/sessions.ts';
import { defineCommand } from '../line/command.ts';
import {
  FORMAT_FLAG,
  MAX_UNPACKED_FLAG,
  MODEL_FLAGS,
  OUTPUT_FLAGS,
  SETTINGS_FLAGS,
  SHARED_STDOUT,
} from '../line/flags.ts';
import { describeLookup, HAND_OVER_START, renderHandOff } from '../render/handoff.ts';
import { archiveToName, inputOf, modelOf, policyOf } from '../runs/compact.ts';
import { createSummarizer, warned } from '../runs/services.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';

const DEFAULT_TOKENS = 4_000;

export const command = defineCommand({
  operands: {
    syntax: '[session...]',
    description: "a path, an id's first digits, or words of the title; without any, the newest of this folder",
  },
  flags: [
    { flags: '--tokens <n>', description: `how long it may be (${DEFAULT_TOKENS})`, parse: parseCount },
    { flags: '-o, --output <file>', description: 'write it here (standard output)' },
    { flags: '--no-capture', description: 'do not store the session for later searches' },
    { flags: '--raw', description: 'do not mask secrets' },
    ...MODEL_FLAGS,
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact handoff 6b6f4218 | codex exec -', 'lets another program go on'],
    ['compact handoff session.jsonl -o handover.md', 'writes it into a file, for a person'],
  ],
  findConflict: ({ options, outputOptions }) => (outputOptions.json && options.output === '-' ? SHARED_STDOUT : null),
  session: { needs: ['selection', 'model', 'archive'] },
  run: async (session, { operands, options, outputOptions }) => {
    const { reporter, useCases, settings, terminal } = session;
    const chosen = await chooseSession(session, operands);
    if (typeof chosen === 'number') return chosen;
    const input = inputOf(chosen, options);
    const policy = { ...policyOf(session, {}), keepInvalid: true };
    const summarizer = await createSummarizer(session, { isDryRun: false, compaction: policy.compaction });
    if (!summarizer.ok) return session.refuse(summarizer.error);
    const mask =
      options.raw === true ? null : warned(session, await useCases.createMask(settings.privacy.redact_rules));
    if (mask?.ok === false) return session.refuse(mask.error);
    reporter.progress.name(chosen.name);
    const isFile = chosen.name === chosen.path;
    const captured =
      options.capture === false || !isFile
        ? null
        : await useCases.captureFile({ input, isDryRun: false, rereads: false }, reporter.progress);
    if (captured?.ok === false && captured.error.kind === 'interrupted') return session.fail(captured.error);
    const made = await useCases.handOff(
      {
        input,
        policy,
        summarizer: summarizer.value,
        ...modelOf(settings),
        maxTokens: options.tokens ?? DEFAULT_TOKENS,
      },
      reporter.progress,
    );
    if (!made.ok) return session.fail(made.error);
    // The hand-over is worth more than the search.
    if (captured?.ok === false) session.fail(captured.error);
    const handOff = made.value;
    const format = useCases.listFormats().find(({ name }) => name === handOff.format);
    const text = renderHandOff(handOff, {
      program: format?.title ?? handOff.format,
      mask: mask?.value ?? ((all) => all),
      lookup:
        captured?.ok === true
          ? describeLookup(handOff, { program: terminal.program(), archive: archiveToName(session) })
          : [],
    });
    const { output = '-' } = options;
    if (output !== '-') {
      const start = new TextEncoder().encode(HAND_OVER_START);
      const bytes = new TextEncoder().encode(text);
      const written = await useCases.writePage({ path: output, bytes, start, file: chosen.name });
      if (!written.ok) return session.fail(written.error);
      reporter.report([`${safeText(chosen.name)} → ${safeText(output)}`]);
    }
    const report: HandoffReport = { schema: 'compact/handoff@1', ...handOff, text };
    if (outputOptions.json) reporter.answerPiece(reportJson(report));
    else if (output === '-') reporter.answerPiece(text);
    return EXIT_CODES.done;
  },
});
