import { createRandom } from '../support/random.ts';

/** Made-up talk in which words are as frequent and as rare as in a language; the same seed gives the same texts. */
export type Talk = {
  /** A session has topics of its own; gives its messages, one a call. */
  readonly startSession: () => () => string;
  /** Queries about what sessions talk about. */
  readonly ask: { readonly [kind in 'word' | 'words' | 'question' | 'longQuestion']: () => string };
};

const COMMON =
  'the of and to in is that it was for on are as with his they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know'.split(
    ' ',
  );
const SYLLABLES = 'ba co de fi go hu la me ni po ra se ti vo zu ker lin mon par ster tran ver wex sol'.split(' ');
const VOCABULARY = 400_000;
const SAMPLES = 2 ** 20;
const TOPIC_WORDS = 300;
const [COMMON_SHARE, TOPIC_SHARE] = [0.45, 0.25];

export function createTalk(seed: number): Talk {
  const random = createRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const ranks = sampleRanks(createRandom(7));
  const anyWord = (): string => spell(ranks[below(SAMPLES)] ?? 0);
  const common = (): string => COMMON[Math.floor(random() ** 2 * COMMON.length)] ?? '';
  const createTopics = (session: number): (() => string) => {
    const pick = createRandom(1000 + session);
    const words = Array.from({ length: TOPIC_WORDS }, () => spell(Math.floor(VOCABULARY ** (0.4 + 0.6 * pick()))));
    return () => words[Math.floor(random() ** 3 * TOPIC_WORDS)] ?? '';
  };
  const writeSentence = (topic: () => string, count: number): string => {
    const word = (): string => {
      const drawn = random();
      return drawn < COMMON_SHARE ? common() : drawn < COMMON_SHARE + TOPIC_SHARE ? topic() : anyWord();
    };
    return Array.from({ length: count }, word).join(' ');
  };
  let session = 0;
  const aboutSome = (): (() => string) => createTopics(1 + below(20));
  return {
    startSession: () => {
      session += 1;
      const topic = createTopics(session);
      return () => `${Array.from({ length: 1 + below(9) }, () => writeSentence(topic, 6 + below(18))).join('. ')}.`;
    },
    ask: {
      word: () => (random() < 0.5 ? aboutSome()() : anyWord()),
      words: () => {
        const topic = aboutSome();
        return `${topic()} ${topic()} ${anyWord()}`;
      },
      question: () => `what was it about ${writeSentence(aboutSome(), 8)}?`,
      longQuestion: () => `${writeSentence(aboutSome(), 20)}?`,
    },
  };
}

/** Ranks of words as Zipf and Mandelbrot found them: the probability of rank r goes with 1 / (r + 2.7). */
function sampleRanks(random: () => number): Uint32Array {
  const scale = Math.log((VOCABULARY + 2.7) / 2.7);
  return Uint32Array.from({ length: SAMPLES }, () => Math.floor(2.7 * Math.exp(random() * scale) - 2.7));
}

/** The word of a rank; frequent words are short. */
function spell(rank: number): string {
  const parts: string[] = [];
  for (let left = rank + SYLLABLES.length; left > 0; left = Math.floor(left / SYLLABLES.length))
    parts.push(SYLLABLES[left % SYLLABLES.length] ?? '');
  return parts.join('');
}
