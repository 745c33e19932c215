import { answerHook } from '../hook/answer-hook.ts';
import { createRuleNotes } from '../hook/rule-notes.ts';
import { defineBareCommand, inSession, EXIT_CODES } from '../line/command.ts';
import { writeRulesNote } from '../render/rules.ts';
import { policyOf } from '../runs/compact.ts';

export const command = defineBareCommand({
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
  fix: ({ settings }) => ({
    outputOptions: { json: false, verbosity: 'quiet', color: 'never', showProgress: false },
    // Hooks run in any folder.
    settings: { ...settings, project: 'ignored' },
  }),
  run: async (context, line) => {
    const { terminal } = context;
    const { transcript: path, session: id } = line.options;
    if (path === undefined || id === undefined) {
      const [client = '', event = ''] = line.operands;
      answerHook({ client, event }, terminal);
      return EXIT_CODES.done;
    }
    const notes = createRuleNotes(terminal.host);
    // The work that an event started.
    return inSession(context, { ...line, format: null, needs: ['archive'] }, async (session) => {
      const input = { path, name: path, format: null };
      const rules = await session.useCases.listRules({ input, policy: policyOf(session, {}) });
      notes.write(id, rules.ok ? writeRulesNote(rules.value) : '');
      return rules.ok ? EXIT_CODES.done : session.fail(rules.error);
    });
  },
});
