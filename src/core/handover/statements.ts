import { hasCue } from '../languages/pattern.ts';

const CAUSE =
  /\b(?:because|since the|the (?:problem|issue|bug|cause|reason|fix|culprit) (?:is|was)|root cause|caused by|due to|turns out|instead of|rather than|decided|chose|chosen|so that|means that|that['’]s why|which is why|in order to|confirmed|found (?:it|the|that)|doesn['’]t|does not|cannot|can['’]t|won['’]t|never|fails?|failed|broken|missing|wrong|actually|however|must|trade-?off|recommend(?:ed|ation)?)\b/i;
const RESULT =
  /\b(?:passe[ds]?|passing|fixed|added|removed|renamed|moved|created|implemented|updated|replaced|changed|committed|pushed|merged|deployed|works|now (?:uses|has|returns|reads|writes|is)|verified|clean|\d+ (?:tests?|files?|errors?|warnings?|lines?))\b|[✅✓❌]/i;
/** Names and numbers that somebody may need: code, paths, hashes, quoted words, figures with units. */
const VALUE =
  /`[^`\n]+`|"[^"\n]{2,60}"|\b\d[\d.,:]*\s?(?:%|ms|s|[kMGT]i?B|px|x)?\b|\b[\w-]+\.\w{1,5}\b|\b[0-9a-f]{7,40}\b/g;
const MAX_VALUES = 4;

/** How much a sentence says that somebody may need later: 1 for any, more for causes, results and values. */
export function worthOfStatement(text: string): number {
  const values = Math.min(MAX_VALUES, text.match(VALUE)?.length ?? 0);
  return 1 + (statesCause(text) ? 1 : 0) + (RESULT.test(text) ? 0.7 : 0) + 0.2 * values;
}

/** Whether a sentence states a cause or a decision. */
export function statesCause(text: string): boolean {
  return CAUSE.test(text) || hasCue(text, 'causes');
}

/** Thinking aloud: what follows is often taken back. */
const PONDERS =
  /^(?:(?:but|no|so|ok(?:ay)?),? )?(?:ah|oh|hmm+|wait|actually|hold on|let['’]s see|let me (?:think|re-?examine|reconsider)|i need to think)\b/i;

export function isPondering(text: string): boolean {
  return PONDERS.test(text) || EMPTY.test(text);
}

const GUESSES =
  /\b(?:might|may|maybe|perhaps|possibly|probably|presumably|likely|suggests?|seems?|appears?|could (?:be|have)|should be able|i (?:think|guess|suspect|assume|wonder))\b/i;

/** Whether a sentence only supposes something: what is found out later may refute it. */
export function isGuess(text: string): boolean {
  return GUESSES.test(text);
}

/** Whether a text announces what comes next instead of saying what happened. */
export function isAnnouncement(text: string): boolean {
  const isPlan = (ANNOUNCEMENT.test(text) || hasCue(text, 'announces')) && !REPORT.test(text);
  return isPlan || /[:：](?:\s*| …)$/.test(text);
}

const GIVES_REASON =
  /\b(?:because|since (?:we|it|the|this|that|they|i)|so that|instead of|rather than|no longer|to (?:avoid|prevent|fix the|match|keep)|which (?:is|are|was|were))\b/i;

/** Whether a text only announces something, and gives no reason for it. */
export function isBareAnnouncement(text: string): boolean {
  return isAnnouncement(text) && !GIVES_REASON.test(text);
}

/** Says that something is understood, not what, which edit comes next, or what the editor shows. */
const EMPTY =
  /^(?:\w+[,!.]?\s+){0,2}(?:now )?i (?:now )?(?:have|understand) (?:a |the )?(?:complete|comprehensive|thorough|full|good|clear|whole)\b[^:]*(?:understanding|picture|view|overview)[^:]*$|^now (?:add|update|replace|change|insert|write|fix|run|create|remove|move|rename|implement|edit|register|check)\b|\b(?:diagnostics?|LSP|gopls)\b.*\b(?:stale|expected|clears?|re-?evaluat\w+|cached?)\b/i;
/** Begins like an announcement, but says what was seen. */
const REPORT =
  /^(?:\w+[,!.]?\s+){0,2}now i (?:see|understand|know|found|have)\b|^now i (?:see|understand|know|found|have)\b|^(?:checking|looking|reading|running)\b.*\b(?:shows?|showed|revealed|confirmed)\b/i;
const ANNOUNCEMENT =
  /^(?:(?:now|ok|okay|great|perfect|good|excellent|alright|right|next|first|then|and|so)[,!.]?\s+)*(?:let me|let['’]s|i['’]ll|i will|i am going to|(?:still )?(?:need|have) to|going to|time to|i['’]m (?:also |now |just )?(?!not)\w+ing|i need to|i should|now i|i can now|checking|looking|reading|running|(?:still )?waiting (?:for|on))\b/i;

/** The number of words, estimated for scripts without spaces. */
export function wordsIn(text: string): number {
  let words = 1;
  let wide = 0;
  let isAfterBlank = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isBlank = code < 128 ? code === 32 || (code >= 9 && code <= 13) : BLANK.test(text.charAt(at));
    if (isBlank && !isAfterBlank) words += 1;
    if (code >= 0x0e00 && WIDE.test(text.charAt(at))) wide += 1;
    isAfterBlank = isBlank;
  }
  return Math.max(words, Math.floor(wide / 2));
}

const BLANK = /\s/;
const WIDE = /[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/;
