import { isList, isRecord, type JsonRecord, stringAt } from './json.ts';
import { readPartText } from './part-text.ts';

/**
 * What an Anthropic block of type document says: the text of one that is text, or the blocks of one that has blocks. '' for a PDF, which is
 * media. https://docs.anthropic.com/en/api/messages
 */
export function documentText({ source }: JsonRecord): string {
  if (!isRecord(source)) return '';
  const type = stringAt(source, 'type');
  if (type === 'text') return stringAt(source, 'data') ?? '';
  const { content } = source;
  if (type !== 'content' || content === undefined) return '';
  const texts = (isList(content) ? content : [content]).map(readPartText);
  return texts.filter((text) => text !== '').join('\n');
}
