import { FUNCTION_WORDS } from '../extract/word-lists.ts';
import { wordsOf } from './question.ts';
import { rootOf, spaceOutQuery } from './words.ts';

const FEEDBACK_WORDS = 20;
/** Per message, so that the output of one tool does not take all places. */
const MAX_WORDS_A_MESSAGE = 30;
const MAX_CHARS = 4000;
const MIN_WORD_CHARS = 3;

/**
 * Words of the best messages that are not in the query in any form. `weigh` returns the weight of each word; null: it is too common or not
 * in the index. Weighing is expensive, so words that only one of the messages has are weighed only if they could still be chosen.
 */
export async function chooseFeedback(
  texts: readonly string[],
  {
    asked,
    weigh,
    maxWeight,
  }: {
    asked: readonly string[];
    weigh: (words: readonly string[]) => Promise<readonly (number | null)[]>;
    /** No word weighs more. */
    maxWeight: number;
  },
): Promise<readonly string[]> {
  const askedRoots = new Set(asked.map(rootOf));
  const found = new Map<string, { readonly word: string; count: number }>();
  for (const text of texts) {
    const words = new Map(
      wordsOf(spaceOutQuery(text.slice(0, MAX_CHARS)))
        .filter(isInformative)
        .map((word) => [rootOf(word), word]),
    );
    for (const [root, word] of [...words].slice(0, MAX_WORDS_A_MESSAGE)) {
      if (askedRoots.has(root)) continue;
      const known = found.get(root);
      if (known === undefined) found.set(root, { word, count: 1 });
      else known.count += 1;
    }
  }
  const words = [...found.values()].map((one, at) => ({ ...one, at }));
  const [shared, single] = [words.filter(({ count }) => count > 1), words.filter(({ count }) => count === 1)];
  const choose = async (from: typeof words): Promise<readonly Weighed[]> => {
    const weights = await weigh(from.map(({ word }) => word));
    return from.flatMap(({ word, count, at }, place) => {
      const weight = weights[place] ?? null;
      return weight === null ? [] : [{ word, at, value: weight * count }];
    });
  };
  const best = takeBest(await choose(shared));
  const isFull = (best[FEEDBACK_WORDS - 1]?.value ?? 0) > maxWeight;
  return (isFull ? best : takeBest([...best, ...(await choose(single))])).map(({ word }) => word);
}

/** `at`: in the order in which they were found. */
type Weighed = { readonly word: string; readonly at: number; readonly value: number };

function takeBest(words: readonly Weighed[]): readonly Weighed[] {
  return words.toSorted((a, b) => b.value - a.value || a.at - b.at).slice(0, FEEDBACK_WORDS);
}

function isInformative(word: string): boolean {
  return !FUNCTION_WORDS.has(word) && (word.length >= MIN_WORD_CHARS || /[^\p{ASCII}]/u.test(word));
}

/**
 * Maps general words to specific ones, because a question about somebody's pets is answered by a message about a puppy. General words stand
 * before the colon, specific ones after it. Everyday English and that of programmers only.
 */
const GROUPS = `pet animal: dog cat puppy kitten pup hamster rabbit bunny turtle fish bird parrot horse guinea snake
child kid: son daughter baby toddler kid child children teen infant newborn
family relative: mother father mom dad sister brother parent husband wife son daughter kid cousin aunt uncle grandma grandpa grandmother grandfather
parent: mother father mom dad mum
sibling: brother sister
spouse partner: husband wife boyfriend girlfriend fiance fiancee married wedding
relationship: single married dating husband wife boyfriend girlfriend partner breakup divorce
friend: friend buddy pal mate roommate neighbor
job career work profession occupation employ: job career work hire company boss office employer position salary promotion colleague intern business
hobby interest activity pastime: hobby enjoy paint cook bake garden hike read dance craft knit photography fishing
sport athlete: basketball football soccer tennis baseball hockey swim run volleyball golf surf ski team coach game
exercise workout fitness: gym run yoga jog weights training swim workout exercise
outdoor nature: hike camp trail park mountain beach forest lake river surf
instrument: guitar piano violin drum flute clarinet cello saxophone ukulele
music musician band song: band concert song album singer guitar piano violin artist melody tune
art artist artwork: paint draw pottery sculpture sketch canvas mural craft
book novel literature author: book novel author read series story bookshelf library
write writer: write script screenplay poem journal blog novel essay article story
movie film: film movie watch cinema screenplay trilogy director
show series: episode season watch tv series
game videogame: game console tournament player xbox playstation nintendo
recipe dish meal food cook cuisine eat: recipe cook bake dinner lunch breakfast dish meal soup salad cake pasta chicken pizza sandwich curry stew
dessert sweet snack treat: cake pie cookie ice chocolate cobbler cupcake pudding tart sundae candy brownie
drink beverage: coffee tea wine beer juice smoothie cocktail
restaurant: restaurant cafe diner dinner food
vehicle: car truck bike bicycle motorcycle van bus
transport: car train bus plane flight bike
travel trip vacation visit tour journey: trip travel vacation visit flight flew tour roadtrip abroad hotel holiday
country nation abroad: country abroad spain italy france england germany japan china india mexico canada sweden brazil ireland greece thailand australia
city town place: city town downtown village
house home live residence: house home apartment condo moved rent room neighborhood
health illness medical sick disease condition: doctor hospital sick illness injury surgery pain therapy allergy diagnosed medicine flu
injure injury hurt: injury hurt ankle knee broke sprain cast pain
stress destress relax unwind: stress relax calm unwind peaceful soothing therapeutic peace escape
cope support therapy: support help therapy counseling encourage comfort
event occasion: festival fair parade concert party ceremony conference exhibition show gala wedding workshop marathon convention
celebrate celebration party: birthday party anniversary celebrate holiday graduation
volunteer charity community donate: volunteer shelter donate charity fundraiser fundraising cause homeless community drive
money financial finance pay cost price: money pay cost loan debt budget savings afford dollar price
buy purchase shop: bought buy store shop purchase order mall
gift present receive: gift gave present received birthday
school education study degree student: school college university class course study degree graduate student exam learn
class course lesson: class course lesson workshop teach
teacher instructor: teacher teach coach mentor instructor professor
religion religious faith church: church faith pray god spiritual temple bible
achievement accomplish award win: won award trophy medal prize achieved win first accomplish
competition contest tournament compete: tournament competition contest compete race match championship won
goal dream plan aspire future: goal dream plan hope aim future want
feel emotion feeling mood: happy sad proud excited nervous anxious grateful scared lonely joy
afraid fear scared: scared fear afraid anxious nervous worried
problem issue challenge difficulty setback: problem issue struggle hard tough difficult setback obstacle lost
advice recommend suggest recommendation tip: recommend suggest advice try check tip should
inspire inspiration motivate motivation reason: inspired inspiration motivated passion because encourage drive
favorite love like fan: favorite love enjoy fan adore
collect collection own possess: collection collect own memorabilia
garden plant: garden plant flower tree vegetable
flower: flower rose sunflower lily daisy tulip bouquet
color: red blue green yellow purple pink orange black white brown
clothes wear outfit: dress shirt shoes wear necklace jacket hat outfit fashion clothing
jewelry: necklace ring bracelet earring pendant
photo picture image: photo picture camera photography image
phone device gadget computer: phone laptop computer tablet app device
weather: rain snow sun storm sunny cold hot
team colleague: team teammate colleague coworker
meet met: met meet introduced
start begin: started began launch opened new
end quit stop finish: quit stopped finished ended left
lose lost: lost lose passed died gone
die death: died death passed funeral lost
move relocate: moved relocate new
politics political: election campaign vote policy government office candidate
military veteran: army military veteran soldier service
law legal: lawyer court legal law
error bug failure fault: error bug failure exception crash broken fail
fix repair solve resolve: fix repair solved resolved patch mend
test check verify: test check verify assert spec
database storage: sql table query sqlite postgres mysql schema database
config configuration setting option: config setting option flag parameter
deploy deployment release ship: deploy release ship rollout publish production
delete remove drop: delete remove drop erase
create add make build: create add build made new
change modify update edit: change modify update edit rewrite refactor
fast slow speed performance: performance slow fast latency speed benchmark
login authentication auth password credential: login auth password token session credential oauth
file folder directory path: file folder directory path
dependency package library: dependency package library module npm version
describe character personality trait: kind caring brave creative thoughtful passionate determined`;

const PARTICULAR: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(
    Object.groupBy(
      GROUPS.split('\n').flatMap((line) => {
        const [general = '', particular = ''] = line.split(': ');
        return general.split(' ').map((word) => ({ root: rootOf(word), particular: particular.split(' ') }));
      }),
      ({ root }) => root,
    ),
  ).map(([root, groups = []]) => [root, groups.flatMap(({ particular }) => particular)] as const),
);

/** Words that a message may use instead of a general one, which is given in all its forms. Empty if the word is specific itself. */
export function relatedWords(forms: readonly string[]): readonly string[] {
  return [...new Set(forms.flatMap((form) => PARTICULAR.get(rootOf(form)) ?? []))];
}
