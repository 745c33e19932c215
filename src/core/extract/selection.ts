import { type Candidates, chooseLines } from './choose.ts';
import { createGainTracker, isNovel, weighContext, weighTalkSentence, weighTerms, weighUnit } from './weights.ts';
import { type Stemmer, createTermIndex, type TermIndex } from './terms.ts';
import type { Passage } from './passage.ts';
import { isRoleWord, type Line } from './summary-lines.ts';
import { hasAttachment, type Unit } from './units.ts';
import { isEnglishText } from './word-lists.ts';

/** A chosen unit. `text` is `passage.text.slice(start, end)` of the passage with this message id. */
export type SelectedUnit = {
  readonly messageId: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly line: Line;
};

type Candidate = Unit & {
  readonly passage: number;
  readonly weight: number;
  readonly context: number;
};

type ChooseOptions = {
  readonly budgetChars: number;
  /** Chooses only units that say something that covered text does not. */
  readonly onlyNovel?: boolean;
  readonly worth?: Worth;
};

export type Worth = {
  /** Excludes units. Asked once for every unit, in order. */
  readonly excludes?: (text: string, unit: Unit, passage: Passage) => boolean;
  /** A factor for the gain of a unit, of 1 at most, on top of its own weight. 0 excludes the unit. Asked once for some of the units. */
  readonly of: (text: string, unit: Unit, passage: Passage) => number;
};

/** Units that can be chosen from several times. What was chosen or covered before adds less the next time. */
export type Selection = {
  /** Counts the content of these lines as kept. */
  readonly cover: (lines: readonly string[]) => void;
  readonly choose: (options: ChooseOptions) => readonly SelectedUnit[];
};

type SelectionOptions = {
  readonly stem: Stemmer;
  readonly lineOf: (text: string, passage: Passage) => Line;
  /** Tools were at work, so that a tale is no news, and a question of the user a request. */
  readonly hasTools?: boolean;
};

export function createSelection(
  passages: readonly Passage[],
  { stem, lineOf, hasTools = passages.some(hasToolText) }: SelectionOptions,
): Selection {
  const isEnglish = isEnglishText(proseSample(passages));
  const labels = new Set(passages.map(({ speaker }) => speaker));
  const speakers = [...labels].filter((label) => !isRoleWord(label));
  const index = createTermIndex({ stem, isEnglish, speakers });
  const candidates = addUnits(index, passages, hasTools);
  const worth = weighTerms(index, { messageCount: passages.length, isEnglish });
  const value = createGainTracker({ index, worth, units: candidates });
  const covered = new Set<number>();
  const taken = new Set<number>();
  const lines: (Line | undefined)[] = [];
  let latest: { readonly worth: Worth | undefined; readonly factors: Factors } = { worth: undefined, factors: EQUAL };
  const lineAt = (place: number): Line => {
    const passage = passages[candidates[place]?.passage ?? -1];
    const unit = candidates[place];
    if (unit === undefined || passage === undefined) throw new RangeError('no such unit');
    return (lines[place] ??= lineOf(passage.text.slice(unit.start, unit.end), passage));
  };
  return {
    cover: (texts) => {
      for (const text of texts) {
        const terms = index.knownTermsIn(text);
        value.cover(terms);
        for (const term of terms) covered.add(term);
      }
    },
    choose: ({ budgetChars, onlyNovel = false, worth: asked }) => {
      if (latest.worth !== asked)
        latest = { worth: asked, factors: asked === undefined ? EQUAL : createFactors(candidates, passages, asked) };
      const { factors } = latest;
      const novelty = createNoveltyCheck(index, candidates.length, covered);
      const places = chooseLines(
        {
          count: candidates.length,
          lineAt,
          charsAt: (place) => lengthOf(candidates[place]),
          passageAt: (place) => candidates[place]?.passage,
          gainOf: (place) => {
            if (factors.knownFactorOf(place) === 0 || taken.has(place) || (onlyNovel && !novelty(place))) return 0;
            return value.gainOf(place);
          },
          ...factors,
          keep: value.keep,
        },
        budgetChars,
      );
      for (const place of places) taken.add(place);
      return places.flatMap((place) => selectedOf(candidates[place], lineAt(place), passages));
    },
  };
}

type Factors = Pick<Candidates, 'knownFactorOf' | 'factorOf'>;
const EQUAL: Factors = { knownFactorOf: () => 1, factorOf: () => 1 };

function createFactors(
  candidates: readonly Candidate[],
  passages: readonly Passage[],
  { excludes = () => false, of }: Worth,
): Factors {
  const ask = <T>(place: number, question: (text: string, unit: Unit, passage: Passage) => T, otherwise: T): T => {
    const unit = candidates[place];
    const passage = passages[unit?.passage ?? -1];
    if (unit === undefined || passage === undefined) return otherwise;
    return question(passage.text.slice(unit.start, unit.end), unit, passage);
  };
  const factors: (number | null)[] = candidates.map((_, place) => (ask(place, excludes, true) ? 0 : null));
  return {
    knownFactorOf: (place) => factors[place] ?? null,
    factorOf: (place) => (factors[place] ??= ask(place, of, 0)),
  };
}

/** Remembers each answer, since what is covered does not change during one choice. */
function createNoveltyCheck(index: TermIndex, count: number, covered: ReadonlySet<number>): (place: number) => boolean {
  const known = new Int8Array(count);
  return (place) => {
    if (known[place] === 0) known[place] = isNovel(index, place, covered) ? 1 : -1;
    return known[place] === 1;
  };
}

function hasToolText({ units }: Passage): boolean {
  return units.some(({ kind }) => kind !== 'prose');
}

const OPENING_MESSAGES = 4;

/** Indexes all units. A passage that follows somebody else's question counts as its answer. */
function addUnits(index: TermIndex, passages: readonly Passage[], hasTools: boolean): readonly Candidate[] {
  const candidates: Candidate[] = [];
  let asker: string | null = null;
  let day: string | null = null;
  let ofDay = 0;
  passages.forEach((said, passage) => {
    const { text, units, speaker, speakerKind } = said;
    ofDay = said.day === day ? ofDay + 1 : 1;
    ({ day } = said);
    const opensDay = day !== null && ofDay <= OPENING_MESSAGES;
    const showsSomething = hasAttachment(text);
    const isAnswer = asker !== null && asker !== speaker;
    let hasProse = false;
    let asks = false;
    for (const unit of units) {
      const isProse = unit.kind === 'prose';
      const isQuestion = isProse && endsInQuestion(text, unit.end);
      hasProse ||= isProse;
      asks ||= isQuestion;
      const unitSpeaker = isProse ? speakerKind : unit.kind === 'call' ? 'call' : 'result';
      const features = index.add(text, unit, { speakerKind: unitSpeaker, messageIndex: passage });
      const weight = weighUnit({
        kind: unit.kind,
        features,
        isRequest: hasTools && unitSpeaker === 'user',
        isQuestion,
        isAnswer,
      });
      const news =
        isProse && !hasTools
          ? weighTalkSentence({ features, sentence: text.slice(unit.start, unit.end), opensDay, showsSomething })
          : 1;
      const { start, end, kind } = unit;
      candidates.push({ start, end, kind, passage, weight: weight * news, context: weighContext(features) });
    }
    if (hasProse) asker = asks ? speaker : null;
  });
  return candidates;
}

const CLOSERS = '"\'”’»)）]」*_`';
const QUESTION_MARKS = '?？؟⸮';

function endsInQuestion(text: string, end: number): boolean {
  let at = end - 1;
  while (at > 0 && CLOSERS.includes(text.charAt(at))) at -= 1;
  return QUESTION_MARKS.includes(text.charAt(at));
}

function lengthOf(unit: Candidate | undefined): number {
  return unit === undefined ? 0 : unit.end - unit.start;
}

function selectedOf(unit: Candidate | undefined, line: Line, passages: readonly Passage[]): readonly SelectedUnit[] {
  const passage = unit === undefined ? undefined : passages[unit.passage];
  if (unit === undefined || passage === undefined) return [];
  return [
    { messageId: passage.id, start: unit.start, end: unit.end, text: passage.text.slice(unit.start, unit.end), line },
  ];
}

const SAMPLE_CHARS = 20_000;
const UNITS_A_PASSAGE = 12;
// An estimate, so that the sample is spread over the whole conversation.
const CHARS_A_PASSAGE = 1_000;

/** Enough prose to detect its language. */
function proseSample(passages: readonly Passage[]): string {
  const step = Math.max(1, Math.floor((passages.length * CHARS_A_PASSAGE) / SAMPLE_CHARS));
  const pieces: string[] = [];
  let chars = 0;
  for (let i = 0; i < passages.length && chars < SAMPLE_CHARS; i += step) {
    const { text, units } = passages[i] ?? { text: '', units: [] };
    for (const { kind, start, end } of units.slice(0, UNITS_A_PASSAGE)) {
      if (kind !== 'prose') continue;
      pieces.push(text.slice(start, end));
      chars += end - start;
    }
  }
  return pieces.join('\n');
}
