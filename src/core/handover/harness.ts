const OPENING = '<system-reminder>';
const CLOSING = '</system-reminder>';
const UNCLOSED = /<system-reminder>[^\n]*(?:\n[^\n]+)*/g;

/** The text without the reminders that a client adds to results for the model alone. One without an end goes up to the next empty line. */
export function withoutReminders(text: string): string {
  if (!text.includes(OPENING)) return text;
  const pieces = text.split(CLOSING);
  const tail = pieces.pop() ?? '';
  const before = pieces.map((piece) => {
    const start = piece.indexOf(OPENING);
    return start < 0 ? piece : piece.slice(0, start);
  });
  return [...before, tail.replace(UNCLOSED, '')].join('\n');
}

const HARNESS_LINES: readonly RegExp[] = [
  // Claude Code
  /^agent_?id: /i,
  /\binternal ID\b|\bdo(?: not|n['’]t) mention (?:this |it )?to (?:the )?user\b|\bSendMessage with to:/i,
  /^Todos have been modified successfully\b/,
  /^The file .{1,400} has been (?:updated|created)(?: successfully)?\./,
  // Codex
  /^(?:Chunk ID|Wall time|Original token count|Exit code): /,
  /^(?:Output|Process exited with code -?\d+|Success\. Updated the following files):?$/,
  // Copilot, Kimi and others
  /^<\/?(?:shellId|command with shellId|system|usage|tool_use_error)\b.*>$/,
  /^shellId: \d+/,
];

/** A line that a client wrote about a call, such as its id or how long it took; it says nothing of the work. */
export function isHarnessLine(line: string): boolean {
  return HARNESS_LINES.some((pattern) => pattern.test(line));
}
