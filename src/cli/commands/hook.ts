import { toPolicy } from '../../config/resolve.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { answerHook } from '../hook/answer-hook.ts';
import { createRuleNotes } from '../hook/rule-notes.ts';
import type { CommonRequest } from '../invocation.ts';
import { renderFailure } from '../render/failure.ts';
import { writeRulesNote } from '../render/rules.ts';
import type { CliContext } from '../session.ts';
import { defineCommand, inSession } from './command.ts';
import { readSettings } from './options.ts';

export type HookInvocation = CommonRequest & {
  readonly kind: 'hook';
  readonly client: string;
  readonly event: string;
  /** The work that an event started; null: the event itself. */
  readonly work: { readonly session: string; readonly transcript: string } | null;
};

export const hookCommand = defineCommand({
  operands: [
    { syntax: '<client>', description: 'whose hook it is: claude, codex or gemini' },
    { syntax: '<event>', description: "the client's name for the event; its JSON is read from standard input" },
  ],
  flags: [
    {
      flags: '--transcript <file>',
      description: 'note the rules in this transcript instead, for the end of the compaction',
    },
    { flags: '--session <id>', description: "for --transcript: the session's id" },
  ],
  examples: [
    ['compact hook claude PreCompact', 'answers an event; Claude Code calls it, not you'],
    ['compact hook claude SessionEnd', 'another event'],
  ],
  read: ({ options, args: [client = '', event = ''] }): HookInvocation => ({
    kind: 'hook',
    client,
    event,
    work:
      options.transcript === undefined || options.session === undefined
        ? null
        : { session: options.session, transcript: options.transcript },
    outputOptions: { json: false, verbosity: 'quiet', color: 'never', showProgress: false },
    // Hooks run in any folder.
    settings: { ...readSettings({}), project: 'ignored' },
  }),
  run,
});

async function run(context: CliContext, invocation: HookInvocation): Promise<ExitCode> {
  const { terminal } = context;
  const { client, event, work } = invocation;
  if (work === null) {
    answerHook({ client, event }, terminal);
    return EXIT_CODES.done;
  }
  const notes = createRuleNotes(terminal.host);
  return inSession(
    context,
    { ...invocation, format: null, command: 'compact hook', needs: ['archive'] },
    async (session) => {
      const { transcript: path } = work;
      const policy = toPolicy(session.settings, { targetTokens: null, ifOver: null, conversation: null });
      const rules = await session.useCases.listRules({ input: { path, name: path, format: null }, policy });
      if (!rules.ok) session.reporter.error(renderFailure(rules.error));
      notes.write(work.session, rules.ok ? writeRulesNote(rules.value) : '');
      return rules.ok ? EXIT_CODES.done : EXIT_CODES.failed;
    },
  );
}
