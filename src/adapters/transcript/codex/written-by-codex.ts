/** How a text that Codex wrote begins and ends, in lower case; letters count in either case, and space around it does not. */
type Marks = readonly [start: string, end: string];

const tagged = (name: string): Marks => [`<${name}>`, `</${name}>`];

/** Standing orders and surroundings, which Codex puts into a conversation as the user's words; they hold until it ends. */
const CONTEXT: readonly Marks[] = [
  ['# agents.md instructions', '</instructions>'],
  tagged('environment_context'),
  tagged('recommended_plugins'),
];

/** As versions of 2025 told AGENTS.md; later ones take it for a prompt when they count turns. */
const FORMER_CONTEXT: readonly Marks[] = [tagged('user_instructions')];

/** What happened, told in the user's name. */
const NOTICES: readonly Marks[] = [
  tagged('turn_aborted'),
  tagged('subagent_notification'),
  tagged('agent_message_board_notification'),
  tagged('user_shell_command'),
  tagged('skill'),
];

/** A review that has ended: told by Codex, and a turn of its own. */
const TURN_NOTICES: readonly Marks[] = [tagged('user_action')];

/** These must be as Codex writes them, to the letter. */
const INTERNAL_CONTEXT = /^<codex_internal_context source="[a-z][a-z0-9_]*">[^]*<\/codex_internal_context>$/;
const EXACT_NOTICES: readonly RegExp[] = [
  /^<goal_context>[^]*<\/goal_context>$/,
  /^<external_([^>]*)>[^]*<\/external_\1>$/,
  /^<hook_prompt\s+hook_run_id\s*=\s*"\s*[^\s"][^"]*"\s*>[^<]+<\/hook_prompt\s*>/i,
  /^Warning: The maximum number of unified exec processes you can keep open is/,
  /^Warning: Your account was flagged for potentially high-risk cyber activity/,
  /^Warning: apply_patch was requested via [^]*Use the apply_patch tool instead of exec_command\.$/,
];

/** Developer texts that Codex writes anew when a turn's settings differ; only their beginning counts. */
const SETTINGS =
  /^\s*<(?:permissions instructions|model_switch|(?:collaboration|multi_agent|persistent)_mode|realtime_conversation|(?:skills|plugins|apps|environments|managed_developer)_instructions|person[a]lity_spec|(?:token|rollout)_budget|context_window(?:_guidance)?)>/i;

export type Authorship = {
  readonly author: 'person' | 'codex-context' | 'codex-notice';
  /** Whether Codex counts the message as the beginning of a turn. */
  readonly opensTurn: boolean;
};

/**
 * Who wrote a message of role user, by its texts: one that Codex wrote makes all of it Codex's, as Codex itself reads it
 * (`matches_marked_text` in its source). A prompt that only begins like one is a prompt.
 */
export function authorshipOf(texts: readonly string[]): Authorship {
  const trimmed = texts.map((text) => text.trim());
  const isMarked = (marks: readonly Marks[]): boolean =>
    trimmed.some((text) => marks.some((one) => isBetween(text, one)));
  const isLike = (pattern: RegExp): boolean => trimmed.some((text) => pattern.test(text));
  const isContext = isMarked(CONTEXT) || isLike(INTERNAL_CONTEXT);
  const isNotice = isMarked(NOTICES) || EXACT_NOTICES.some(isLike);
  const opensTurn = !isContext && !isNotice;
  if (isContext || isMarked(FORMER_CONTEXT)) return { author: 'codex-context', opensTurn };
  return { author: isNotice || isMarked(TURN_NOTICES) ? 'codex-notice' : 'person', opensTurn };
}

function isBetween(text: string, [start, end]: Marks): boolean {
  return text.slice(0, start.length).toLowerCase() === start && text.slice(-end.length).toLowerCase() === end;
}

export function isSettingsText(text: string): boolean {
  return SETTINGS.test(text);
}

/** What Codex's editor and desktop app put before a prompt, and the heading with which the prompt begins. */
const EDITOR_CONTEXT = /^\s*# (?:Context from my IDE setup|Files mentioned by the user|In app browser)\b/;
const PROMPT_HEADING = '## My request for Codex:';
/** Stands around a pasted picture as a text of its own. */
const IMAGE_TAG = /^\s*<\/?image\b[^<>]*>\s*$/;

/** The prompt alone. The last heading counts: the context before it holds text of files. */
export function withoutEditorContext(text: string): string {
  if (IMAGE_TAG.test(text)) return '';
  if (!EDITOR_CONTEXT.test(text)) return text;
  const at = text.lastIndexOf(PROMPT_HEADING);
  return at < 0 ? '' : text.slice(at + PROMPT_HEADING.length).trim();
}
