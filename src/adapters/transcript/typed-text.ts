import type { Decoded } from '../../core/transcript.ts';

/** Blocks that a client puts into a prompt: reminders and hook output, which it writes itself, and what an editor shows, which holds text of files. */
const CLIENT_BLOCK =
  /<(system-reminder|user-prompt-submit-hook|ide_selection|ide_opened_file|ide_diagnostics|new-diagnostics)>/g;

/** Blocks with text of files: a file may hold the closing tag, so the last one counts. */
const FILE_BLOCKS: ReadonlySet<string> = new Set(['ide_selection', 'ide_diagnostics', 'new-diagnostics']);

/**
 * What a person wrote of a prompt's texts: without the blocks that the client added. Undefined where nothing is left. A text without such
 * blocks comes back as it is, so that a prompt of many megabytes is not copied.
 */
export function typedText(texts: readonly string[]): string | undefined {
  const left = texts.map(withoutClientBlocks).filter((text) => text.trim() !== '');
  if (left.length === 0) return undefined;
  return left.length === 1 ? left[0] : left.join('\n');
}

function withoutClientBlocks(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (const { 0: opening, 1: tag = '', index } of text.matchAll(CLIENT_BLOCK)) {
    if (index < from) continue;
    const closing = `</${tag}>`;
    const start = index + opening.length;
    const end = FILE_BLOCKS.has(tag) ? text.lastIndexOf(closing) : text.indexOf(closing, start);
    // A tag that nothing closes was typed: somebody writes about it.
    if (end < start) break;
    kept.push(text.slice(from, index));
    from = end + closing.length;
  }
  return from === 0 ? text : [...kept, text.slice(from)].join('').trim();
}

/** `message` with what was typed in it; without the key where nothing was. */
export function withTyped<T extends object>(message: T, typed: string | undefined): T & { readonly typed?: string } {
  return typed === undefined || typed.trim() === '' ? message : { ...message, typed };
}

/** A message that no person typed after all: a model wrote a subagent's prompts, for instance. */
export function withoutTyped<T extends Decoded>(decoded: T): T {
  if (decoded.message?.typed === undefined) return decoded;
  const { typed: _, ...message } = decoded.message;
  return { ...decoded, message };
}
