import { commandLine, type DoneCall, isDeed } from './command-line.ts';
import { charsOf, type HandoverLine, quoted } from './line.ts';

/** Files that calls wrote or edited, the latest last, each with how often. The folder that all share stands once at the head. */
export function writeFileLines(calls: readonly DoneCall[], maxChars: number): readonly HandoverLine[] {
  const files = new Map<string, string[]>();
  for (const { call, messageIds } of calls) {
    for (const path of call.written) {
      const writers = files.get(path) ?? [];
      writers.push(...messageIds.slice(0, 1));
      // Deleted first, so that the path moves to the end.
      files.delete(path);
      files.set(path, writers);
    }
  }
  const folder = sharedFolder([...files.keys()]);
  const head: readonly HandoverLine[] = folder === '' ? [] : [{ text: `In ${quoted(folder)}:`, messageIds: [] }];
  const lines = [...files].map(([path, messageIds]) => ({
    text: `- ${quoted(path.slice(folder.length))}${messageIds.length > 1 ? ` (${messageIds.length} times)` : ''}`,
    messageIds,
  }));
  return newestThatFit(head, lines, maxChars);
}

function sharedFolder(paths: readonly string[]): string {
  const [first] = paths;
  if (first === undefined || paths.length < 2) return '';
  let end = first.lastIndexOf('/') + 1;
  for (const path of paths) {
    // lastIndexOf takes a negative position for 0, so the root needs a case of its own.
    while (end > 0 && !path.startsWith(first.slice(0, end))) end = end < 2 ? 0 : first.lastIndexOf('/', end - 2) + 1;
  }
  return end > 1 ? first.slice(0, end) : '';
}

/** Commands that did or checked something, each once with its latest result, in order. */
export function writeCommandLines(calls: readonly DoneCall[], maxChars: number): readonly HandoverLine[] {
  const latest = new Map<string, HandoverLine>();
  for (const done of calls) {
    const { command } = done.call;
    if (command === null || !isDeed(command)) continue;
    const key = command.split('\n')[0]?.slice(0, 60) ?? '';
    latest.delete(key);
    latest.set(key, { text: `- ${quoted(commandLine(done))}`, messageIds: done.messageIds });
  }
  return newestThatFit([], [...latest.values()], maxChars);
}

function newestThatFit(
  head: readonly HandoverLine[],
  lines: readonly HandoverLine[],
  maxChars: number,
): readonly HandoverLine[] {
  let left = maxChars - head.reduce((sum, line) => sum + charsOf(line), 0);
  let first = lines.length;
  while (first > 0) {
    const line = lines[first - 1];
    if (line === undefined || charsOf(line) > left) break;
    left -= charsOf(line);
    first -= 1;
  }
  return first === lines.length ? [] : [...head, ...lines.slice(first)];
}
