import { type Message, textOfContent } from './model-request.ts';

/**
 * The system parameter of an Anthropic request: the request's own system prompt, then its system messages in their order,
 * parted by a blank line; undefined where there are none. Blank ones are left out.
 */
export function buildAnthropicSystemParam(
  requestSystem: string | undefined,
  messages: readonly Message[],
): string | undefined {
  const said = messages.filter(({ role }) => role === 'system').map(({ content }) => textOfContent(content));
  const parts = [requestSystem ?? '', ...said].filter((text) => text.trim() !== '');
  return parts.length === 0 ? undefined : parts.join('\n\n');
}
