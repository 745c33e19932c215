import type { BatchHit, MessageHit, SearchHit } from '../../app/contract/archive-reports.ts';
import { countOf } from '../render/quantities.ts';
import { safeText } from '../render/safe-text.ts';
import { textLines } from '../render/text-lines.ts';
import { clipField } from './bounds.ts';

/** A hit for a model: where it is from, and the excerpt; no field longer than anybody needs. `show` always leads to it. */
export function toHitData(hit: SearchHit): Readonly<Record<string, unknown>> {
  const { kind, show, file, text } = hit;
  const label = clipField(hit.label);
  const conversation = clipField(hit.conversation);
  if (hit.kind === 'batch') {
    const { depth, count, start, at: end } = hit;
    return {
      kind: 'summary',
      show,
      label,
      conversation,
      depth,
      messages: count,
      start,
      end,
      file: clipField(file),
      text,
    };
  }
  const { role, at, index } = hit;
  const names = { id: clipField(hit.id), label, conversation };
  return { kind, show, ...names, role, name: clipField(hit.name), at, index, file: clipField(file), text };
}

/** The same as lines of text. */
export function renderHit(hit: SearchHit): string {
  const about = hit.kind === 'message' ? aboutMessage(hit) : aboutBatch(hit);
  const label = hit.label === null ? [] : [`  label ${safeText(clipField(hit.label))}`];
  const lines = [`${hit.show}: ${about}`, ...label, `  from ${safeText(clipField(hit.file))}`];
  return [...lines, ...textLines(hit.text).map((line) => `  > ${line}`)].join('\n');
}

function aboutMessage({ role, name, at, index, conversation, id }: MessageHit): string {
  const speaker = name === null ? role : `${role} ${safeText(clipField(name))}`;
  return [
    speaker,
    ...(at === null ? [] : [at]),
    ...(index === null ? [] : [`message ${index}`]),
    ...aboutConversation(conversation),
    `id ${safeText(clipField(id))}`,
  ].join(', ');
}

function aboutBatch({ count, depth, start, at, conversation }: BatchHit): string {
  return [
    `summary of ${countOf(count, 'message')}${depth === 0 ? '' : `, depth ${depth}`}`,
    ...(start === null || at === null ? [] : [`${start} to ${at}`]),
    ...aboutConversation(conversation),
  ].join(', ');
}

function aboutConversation(conversation: string | null): readonly string[] {
  return conversation === null ? [] : [`conversation ${safeText(clipField(conversation))}`];
}
