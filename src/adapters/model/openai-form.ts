import type { Fault } from './fault.ts';
import type { OpenAiForm } from './openai-request.ts';
import { namesUnsupported } from './unsupported.ts';

/** What to do otherwise after a refusal that names a parameter of ours; null: nothing. Each change is made once at most. */
export function learnForm(used: OpenAiForm, fault: Fault): Partial<OpenAiForm> | null {
  if (!used.isSwapped && namesUnsupported(fault, [used.maxTokensField])) {
    return {
      maxTokensField: used.maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens',
      isSwapped: true,
    };
  }
  if (used.hasTemperature && namesUnsupported(fault, ['temperature'])) return { hasTemperature: false };
  if (used.hasUsageOption && namesUnsupported(fault, ['stream_options', 'include_usage'])) {
    return { hasUsageOption: false };
  }
  return null;
}
