import type { ConversationMessage } from '../message.ts';
import { chooseLines } from './choose.ts';
import { dayOf } from './layout.ts';
import type { Line } from './layout.ts';
import type { SegmentKind } from './segment.ts';
import { createTermIndex } from './terms.ts';
import type { Stemmer, UnitTraits, Voice } from './terms.ts';
import { unitsOf } from './unit.ts';
import { DEFAULT_WEIGHTS, weighTerms } from './weights.ts';
import type { ExtractWeights } from './weights.ts';

export function selectChunk(messages: readonly ConversationMessage[], budgetChars: number, { stem, weights = DEFAULT_WEIGHTS, earlier = [] }: { stem: Stemmer; weights?: ExtractWeights; earlier?: readonly string[] }): { lines: Line[]; debug: unknown } {
  const isEnglish = true;
  const speakers = [...new Set(messages.map((m) => m.name ?? m.role))];
  const index = createTermIndex({ stem, isEnglish, speakers });
  const lines: Line[] = [];
  const owner: number[] = [];
  const multiplier: number[] = [];
  let previousAsked = false;
  let previousSpeaker = '';
  messages.forEach((message, messageIndex) => {
    const { text, units } = unitsOf(message);
    const speaker = message.role === 'tool' ? 'tool' : (message.name ?? message.role);
    const day = dayOf(message.created_at);
    const answers = previousAsked && speaker !== previousSpeaker;
    let asked = false;
    for (const unit of units) {
      const voice: Voice = unit.kind === 'call' ? 'call' : unit.kind === 'prose' ? (message.role === 'user' ? 'user' : 'assistant') : 'result';
      const traits = index.add(text, unit, { kind: unit.kind, voice, messageIndex });
      const t = text.slice(unit.start, unit.end);
      const isQuestion = unit.kind === 'prose' && t.endsWith('?');
      if (isQuestion) asked = true;
      lines.push({ text: t, day, speaker, isNamed: false, isQuoted: false });
      owner.push(messageIndex);
      multiplier.push(multiplierOf({ kind: unit.kind, traits, isQuestion, answers, isUser: message.role === 'user', isError: /error|fail|exception|panic/i.test(t) }, weights));
    }
    if (units.some((u) => u.kind === 'prose')) { previousAsked = asked; previousSpeaker = speaker; }
  });
  const worth = weighTerms(index, { weights, messageCount: messages.length, isEnglish });
  const counts = new Uint32Array(index.termCount());
  const isToken = Uint8Array.from({ length: index.termCount() }, (_, t) => (index.tokenUse(t) === null ? 0 : 1));
  const chosenOf = new Uint8Array(messages.length);
  const wordStep = steps(weights.wordPower);
  const tokenStep = steps(weights.tokenPower);
  const gainOf = (unit: number): number => {
    const m = multiplier[unit] ?? 0;
    if (m === 0) return 0;
    const [terms, from, to] = index.termsOf(unit);
    let sum = 0;
    for (let i = from; i < to; i += 1) {
      const t = terms[i]!;
      const c = Math.min(counts[t]!, 63);
      sum += worth[t]! * (isToken[t] === 1 ? tokenStep[c]! : wordStep[c]!);
    }
    return sum * m * (chosenOf[owner[unit]!] ? (globalThis.BON ?? 1) : 1);
  };
  const picked = chooseLines({ lines, messageOf: (l) => owner[l] ?? -1, gainOf, onChosen: (u) => { chosenOf[owner[u]!] = 1; const [terms, from, to] = index.termsOf(u); for (let i = from; i < to; i += 1) counts[terms[i]!]! += 1; } }, budgetChars);
  return { lines: picked.map((p) => lines[p]!), debug: { index, worth } };
}
function steps(power: number): Float64Array { return Float64Array.from({ length: 64 }, (_, c) => (c + 1) ** power - c ** power); }
function multiplierOf({ kind, traits, isQuestion, answers, isUser, isError }: { kind: SegmentKind; traits: UnitTraits; isQuestion: boolean; answers: boolean; isUser: boolean; isError: boolean }, w: ExtractWeights): number {
  if (kind === 'call') return w.call;
  if (kind !== 'prose') return w.result * (isError || kind === 'error' ? w.error : 1);
  if (isQuestion && !traits.hasToken) return w.question;
  return (answers ? w.answer : 1) * (traits.hasTime ? w.time : 1) * (traits.hasName ? w.name : 1) * (traits.onlyAddresses ? w.addressOnly : 1) * (isUser ? w.user : 1);
}
