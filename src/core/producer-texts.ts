/**
 * How the summaries begin that programs write in the user's name when they compact a conversation, and what they type for the user to go on after
 * one: Claude Code and Cline, Codex, Gemini CLI and Qwen Code, pi, Copilot CLI, Kimi, Droid, OpenCode, Crush, and this program.
 */
const SUMMARIES: readonly RegExp[] = [
  /^This session is being continued from a previous conversation/,
  /^Another language model started to solve this problem and produced a summary/,
  /^You were originally given instructions from a user over one or more turns/,
  /^<state_snapshot>/,
  /^(?:The )?[Cc]onversation history before this point was compacted into the following summary/,
  /^The following is a summary of (?:a branch that this conversation|the conversation|our conversation|the previous conversation)/,
  /^Some of the conversation history has been summarized to free up context/,
  /^(?:<system>)?Previous context has been compacted/,
  /^(?:\[SYSTEM\][^\n]*\n)?A previous instance of [\w ]{1,40} has summarized the conversation/,
  /^\[Context Summary — /,
];
const CONTINUATIONS: readonly RegExp[] = [
  /^Use the above summary generated from your last session to resume/,
  /^Continue if you have next steps/,
  /^The previous session was interrupted because it got too long/,
  /^Please continue the conversation from where (?:we|it) left off without asking/,
  /^What did we do so far\?$/,
];
/** The beginning of a text is enough. */
const READ_CHARS = 300;

/** Whether a text in the user's name is a summary that a program wrote when it compacted the conversation. */
export function isProducerSummary(text: string): boolean {
  const beginning = text.slice(0, READ_CHARS).trimStart();
  return SUMMARIES.some((pattern) => pattern.test(beginning));
}

/** Whether a program wrote a text in the user's name around a compaction, so that it asks for nothing and sets no rules. */
export function isWrittenByProducer(text: string): boolean {
  const beginning = text.slice(0, READ_CHARS).trim();
  return isProducerSummary(beginning) || CONTINUATIONS.some((pattern) => pattern.test(beginning));
}
