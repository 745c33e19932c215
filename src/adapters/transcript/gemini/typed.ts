import type { Json } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord } from '../json.ts';
import { typedText } from '../typed-text.ts';
import { partsOf, textOfPart } from './content.ts';

/** Gemini CLI adds the text of the files that a prompt names (`@path`) below it, from this line on. */
const FILES_FOLLOW = '--- Content from referenced files ---';

/** What Gemini CLI says in the user's name: a command that a person ran in its shell, with its output, and the model's own summary. */
const NOT_TYPED = ['I ran the following shell command:', '<state_snapshot>'];

/** What a person wrote in a user's record. `displayContent` is the prompt as it was typed, where it differs from what was sent. */
export function readTyped({ displayContent, content }: JsonRecord): string | undefined {
  const texts = textsOf(displayContent ?? content);
  const at = texts.findIndex((text) => text.includes(FILES_FOLLOW));
  if (at < 0) return typedText(texts.filter(isPersons));
  const [before = ''] = (texts[at] ?? '').split(FILES_FOLLOW, 1);
  return typedText([...texts.slice(0, at), before.trimEnd()].filter(isPersons));
}

function textsOf(content: Json | undefined): readonly string[] {
  const parts = partsOf(content).filter((part) => part['thought'] !== true);
  return parts.flatMap((part) =>
    isRecord(part['functionCall']) || isRecord(part['functionResponse']) ? [] : [textOfPart(part)],
  );
}

function isPersons(text: string): boolean {
  const start = text.trimStart();
  return !NOT_TYPED.some((words) => start.startsWith(words));
}
