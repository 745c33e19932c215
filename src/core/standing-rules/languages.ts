import { isJoined, likelyLanguages } from '../languages/detect.ts';
import { foldLetters } from '../languages/fold.ts';
import { patternsOf } from '../languages/pattern.ts';
import { stemOf } from '../languages/stem.ts';

const ASKS = /[?？؟]["'”’)\]）」]*$/u;

/** Who quotes two texts wants one replaced by the other. */
const QUOTED = /["“„«»「『][^"“”„«»「」『』]{1,60}["”“«»」』]/gu;

/** Reads a sentence in lower case. "From now on" makes any statement a rule, even one with a veto. */
export function readOtherLanguage(sentence: string): 'rule' | 'permission' | null {
  if (ASKS.test(sentence)) return null;
  const said = foldLetters(sentence);
  const read = likelyLanguages(said).map(patternsOf);
  if (read.some(({ permits }) => permits.test(said))) return 'permission';
  if (read.some(({ standing }) => standing.test(said))) return 'rule';
  if ((said.match(QUOTED)?.length ?? 0) > 1 || read.some(({ vetoes }) => vetoes.test(said))) return null;
  return read.some(({ cues }) => cues.test(said)) ? 'rule' : null;
}

/** What a rule in another language than English is about; null: it has no words of one. */
export type Subject = {
  /** Stems without function words, names of languages and "from now on". In scripts without spaces pairs of characters. */
  readonly words: readonly string[];
  readonly names: readonly string[];
  readonly isStanding: boolean;
};

/** Korean particles follow foreign words without a blank. */
const WORD = /[a-z][\w-]*(?=[\uac00-\ud7af])|[^\s!-@[-`{-~«»„“”‘’…–—،؛؟।。、！]+/gu;
const RUN = /[a-z][\w-]*|[\u30a0-\u30ff]+|[\u3400-\u9fff]+|[\u0e00-\u0e7f]+/g;

export function readSubject(sentence: string): Subject | null {
  const likely = likelyLanguages(sentence);
  const isMeant = ({ standing, permits }: ReturnType<typeof patternsOf>): boolean =>
    standing.test(sentence) || permits.test(sentence);
  const language = likely.find((one) => isMeant(patternsOf(one))) ?? likely[0];
  if (language === undefined) return null;
  const { standing, names, functionWords } = patternsOf(language);
  const rest = functionWords.remove(names.remove(standing.remove(sentence)));
  const words = isJoined(language)
    ? (rest.match(RUN) ?? []).flatMap(piecesOf)
    : (rest.match(WORD) ?? []).map((word) => stemOf(word, language));
  return {
    words: words.filter((word) => word !== ''),
    names: names.findAll(sentence),
    isStanding: standing.test(sentence),
  };
}

/** A term, or the pairs of characters of a stretch without spaces. Kana that only link words say nothing. */
function piecesOf(run: string): readonly string[] {
  if (/^[a-z]/.test(run)) return [run];
  const signs = Array.from(run);
  return signs.length < 2 ? signs : signs.slice(1).map((sign, at) => `${signs[at] ?? ''}${sign}`);
}
