/** Standing orders and surroundings, which Codex puts into a conversation as the user's words; they hold until it ends. */
const CONTEXT =
  /^\s*(?:# AGENTS\.md instructions|<(?:user_instructions|environment_context|instructions|permissions instructions|(?:skills|plugins|apps)_instructions|collaboration_mode|codex_internal_context|recommended_plugins|additional_context)\b)/i;

/** What happened, told in the user's name. */
const NOTICE =
  /^\s*(?:<(?:turn_aborted|subagent_notification|user_shell_command|user_action|skill|hook_prompt|goal_context|token_budget|rollout_budget|context_window\w*|send_user_message_question_reply)\b|Warning: (?:apply_patch was requested via|The maximum number of unified exec))/i;

/** Developer texts that Codex writes anew when a turn's settings differ. */
const SETTINGS =
  /^\s*<(?:permissions instructions|model_switch|collaboration_mode|multi_agent_mode|realtime_conversation|skills_instructions|personality_spec|token_budget|rollout_budget|context_window\w*)\b/i;

export type Author = 'person' | 'codex-context' | 'codex-notice';

/** Who wrote a message of role user, by its texts: one that Codex wrote makes all of it Codex's, as Codex itself reads it. */
export function authorOf(texts: readonly string[]): Author {
  if (texts.some((text) => CONTEXT.test(text))) return 'codex-context';
  return texts.some((text) => NOTICE.test(text)) ? 'codex-notice' : 'person';
}

export function isSettingsText(text: string): boolean {
  return SETTINGS.test(text);
}
