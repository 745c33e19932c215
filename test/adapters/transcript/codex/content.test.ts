import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { authorshipOf, isSettingsText } from '../../../../src/adapters/transcript/codex/decode.ts';

/** Who wrote each text, as a message of its own, and whether it opens a turn; all that stands in these tables was tried with Codex 0.169. */
function authorships(texts: readonly string[]): readonly (readonly [string, string, boolean])[] {
  return texts.map((text) => {
    const { author, opensTurn } = authorshipOf([text]);
    return [text, author, opensTurn];
  });
}
const all = (
  texts: readonly string[],
  author: string,
  opensTurn: boolean,
): readonly (readonly [string, string, boolean])[] => texts.map((text) => [text, author, opensTurn]);

suite('a text of role user', () => {
  test('that stands between marks of Codex is its own, in any case of letters and with space around it', () => {
    const texts = [
      '# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>',
      '# AGENTS.md instructions\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>',
      '# agents.md INSTRUCTIONS x</instructions>',
      '\n  <environment_context>here</environment_context>\n',
      '<ENVIRONMENT_CONTEXT>here</Environment_Context>',
      '<recommended_plugins>none</recommended_plugins>',
      '<codex_internal_context source="goal_2">go on</codex_internal_context>',
    ];
    assert.deepEqual(authorships(texts), all(texts, 'codex-context', false));
  });

  test('in which Codex reports something is its own', () => {
    const texts = [
      '<turn_aborted>stopped</turn_aborted>',
      '<subagent_notification>{}</subagent_notification>',
      '<agent_message_board_notification>a post</agent_message_board_notification>',
      '<user_shell_command>ls</user_shell_command>',
      '<skill></skill>',
      '<goal_context>go on</goal_context>',
      '<external_editor>line 3</external_editor>',
      '<hook_prompt hook_run_id="1">again</hook_prompt>',
      '<HOOK_PROMPT hook_run_id = "1">again</HOOK_PROMPT > and more',
      'Warning: The maximum number of unified exec processes you can keep open is 60',
      'Warning: Your account was flagged for potentially high-risk cyber activity. Stop.',
      'Warning: apply_patch was requested via shell. Use the apply_patch tool instead of exec_command.',
    ];
    assert.deepEqual(authorships(texts), all(texts, 'codex-notice', false));
  });

  test('that only begins or only ends like one of Codex is a prompt', () => {
    const texts = [
      '# AGENTS.md instructions are wrong, mend them',
      '<instructions>be brief</instructions>',
      '<environment_context>',
      '<environment_context>here</environment_context> is wrong',
      'mend <environment_context>here</environment_context>',
      '<environment_context for="1">here</environment_context>',
      '<user_shell_command> what is it?',
      '<turn_aborted/>',
      '</skill>',
      '<skill name="x">how?</skill>',
      '<codex_internal_context>go on</codex_internal_context>',
      '<codex_internal_context source="Goal-1">go on</codex_internal_context>',
      '<CODEX_internal_context source="goal">go on</codex_internal_context>',
      '<codex_internal_context source="goal">go on</codex_internal_context> why?',
      '<GOAL_context>go on</GOAL_context>',
      '<goal_context> why?',
      '<external_editor>line 3</external_other>',
      '<EXTERNAL_editor>line 3</EXTERNAL_editor>',
      '<hook_prompt>again</hook_prompt>',
      '<hook_prompt hook_run_id="">again</hook_prompt>',
      '<hook_prompt hook_run_id="1">again',
      '<hook_prompt hook_run_id="1"></hook_prompt>',
      'Warning: The maximum number of unified exec',
      'warning: your account was flagged for potentially high-risk cyber activity',
      'Warning: apply_patch was requested via exec',
      '',
    ];
    assert.deepEqual(authorships(texts), all(texts, 'person', true));
  });

  test('that Codex puts into the words of a developer alone is a prompt', () => {
    const tags = [
      'permissions instructions',
      'skills_instructions',
      'collaboration_mode',
      'token_budget',
      'context_window',
    ];
    const texts = tags.map((tag) => `<${tag}>x</${tag}>`);
    assert.deepEqual(authorships(texts), all(texts, 'person', true));
  });

  test("is a person's where it answers a question of the model", () => {
    const texts = ['<send_user_message_question_reply>[]</send_user_message_question_reply>'];
    assert.deepEqual(authorships(texts), all(texts, 'person', true));
  });

  test('can be of Codex and open a turn all the same: a review that ended, rules as they were told in 2025', () => {
    assert.deepEqual(
      authorships(['<user_action>review</user_action>', '<user_instructions>be brief</user_instructions>']),
      [
        ['<user_action>review</user_action>', 'codex-notice', true],
        ['<user_instructions>be brief</user_instructions>', 'codex-context', true],
      ],
    );
  });

  test('makes the whole message one of Codex', () => {
    const place = '<environment_context>here</environment_context>';
    const rules = '<user_instructions>be brief</user_instructions>';
    assert.deepEqual(
      [
        ['do it', place],
        [rules, place],
        ['do', 'it'],
      ].map(authorshipOf),
      [
        { author: 'codex-context', opensTurn: false },
        { author: 'codex-context', opensTurn: false },
        { author: 'person', opensTurn: true },
      ],
    );
  });
});

test('a text of a developer is a setting where it begins with a mark of one, whatever follows', () => {
  const settings = [
    '<permissions instructions>x',
    '  <MODEL_SWITCH>x',
    '<collaboration_mode>x',
    '<multi_agent_mode>x',
    '<persistent_mode>x',
    '<realtime_conversation>x',
    '<skills_instructions>x',
    '<plugins_instructions>x',
    '<apps_instructions>x',
    '<environments_instructions>x',
    '<managed_developer_instructions>x',
    '<personality_spec>x',
    '<token_budget>x',
    '<rollout_budget>x',
    '<context_window>x',
    '<context_window_guidance>x',
  ];
  const others = [
    'be brief',
    '<permissions instructions',
    '<model_switch now="1">x',
    '<skills_instructions_more>x',
    '<token_budget/>',
    '<context_window_reminder>x',
    '<model_instructions>x',
    '<environment_context>x</environment_context>',
  ];
  assert.deepEqual([...settings, ...others].filter(isSettingsText), settings);
});
