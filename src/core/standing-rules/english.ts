/** Recognizes standing rules in English. All patterns expect lower case, straight apostrophes and single spaces. */

import { lazily } from '../lazy.ts';

/**
 * Patterns by the words that every match contains: one of each set, where `&` stands between sets. `^`: the clause begins with one of them, or
 * with "please" before it. Looking words up is much faster than compiling and trying every pattern.
 */
type Cues = Readonly<Record<string, RegExp>>;

/** Phrases that make any sentence a standing rule. */
const STANDING: Cues = {
  'from & on onward onwards forward': /\bfrom (?:now|here|today|this point|this moment) (?:on|onwards?|forward)\b/,
  'forward further times exception exceptions costs matter whatever':
    /\b(?:going forward|until further notice|at all times|no exceptions?|without exception|at all costs|no matter what|whatever (?:you do|happens))\b/,
  rest: /\bfor the rest of (?:this|the|our) (?:session|conversation|project|chat|task|work|day)\b/,
  'circumstance circumstances condition conditions': /\bunder (?:no|any) (?:circumstances?|conditions?)\b/,
  'hard strict firm absolute negotiable limits hands bounds':
    /\b(?:hard|strict|firm|absolute) (?:requirement|rule|limit|constraint|no)\b|\bnon-negotiable\b|\boff[- ]limits\b|\bhands off\b|\bout of bounds\b/,
  'must mandatory forbidden prohibited banned taboo untouchable sacrosanct frozen final required & is are':
    /\b(?:is|are) (?:a must|mandatory|forbidden|prohibited|banned|taboo|untouchable|sacrosanct|frozen|final|(?:strictly )?required for)\b|\bit is (?:forbidden|prohibited|mandatory)\b/,
  'allowed permitted acceptable be & not never isn aren':
    /\b(?:is|are) (?:not|never) (?:allowed|permitted|acceptable|to be)\b|\b(?:isn't|aren't) (?:allowed|permitted|acceptable)\b/,
  '^rule constraint requirement policy convention':
    /^(?:rule|constraint|requirement|policy|convention)(?: (?:number )?\w+)?: /,
  'rule way unless & as keep i': /\bas a rule\b|\bkeep it (?:that|this) way\b|\bunless i (?:say|tell|ask)\b/,
  '^bear keep remember': /^(?:please )?(?:bear|keep) in mind\b|^remember(?: that\b|[:,])/,
};

/** Absolute orders and properties: what must never or always be. */
const ABSOLUTE: Cues = {
  'never always':
    /(?:^|[,;:.(–—-] ?|\b(?:and|but|or|so|then|also|please|pls|you|we|should|must|shall|are) )(?:never|always)(?:, ever,?)? (?![a-z]+ \d)(?!(?:been|had|got|mind|seen|heard|knew|happened|worked|forget|forgets|so|the same|a|an|the|in|because|when|had|did|was|were|is|are|red|green|null|empty|wrong|broken|failing|like|this|that)\b)(?![a-zµ]+(?:ed|[^s\s]s)\b)[a-zµ\-/"'@.]/u,
  'not don dont & do don dont':
    /(?:^|[,;:.!–—-] ?|\b(?:please|pls|and|but|so|then|also|just|you|session|project) )(?:do not|don't|dont) (?:you )?(?:ever )?(?!you\b|worry|forget|mind|think|know|see|understand|get it|need|have|remember|believe|hesitate|bother|panic|care|feel|seem|look|work|exist|want|like|quite|even|really)[a-zµ]+/u,
  '^avoid refrain steer stick adhere stay keep comply':
    /^(?:please )?(?:avoid|refrain from|steer clear of|stick (?:to|with)|adhere to|stay (?:out of|away from|off|clear of|on|with|within)|keep (?:away|out|your hands|clear)|comply with)\b/,
  '^stop':
    /^(?:please )?stop (?!here\b|it\b|that\b|this\b|now\b|working\b|doing\b|running\b|waiting\b|searching\b|looking\b|trying\b)[a-zµ]+ing\b/u,
  '^leave':
    /^(?:please )?leave (?!it\b|that\b|this\b|me a)[^,;]* (?:alone|untouched|unchanged|out|in place|as (?:it|they|is)\b)/,
  'nothing nobody no none & may can should must shall get gets goes to':
    /\b(?:nothing|nobody|no one|none of [a-zµ]+|no (?:[a-zµ]+ ){1,3}?)\b ?(?:[a-zµ]+ ){0,3}(?:may|can|should|must|shall|gets?|goes|is to|are to)\b/u,
  'you & can cannot may must mustn shall should shouldn are':
    /\byou (?:can't|cannot|may not|may only|must|must not|mustn't|shall|should not|shouldn't|should always|should never|should only|are (?:not )?to)\b/,
};

const MODAL: Cues = {
  'must mustn': /\bmust(?: not|n't)?\b/,
  'shall should & exceed stay remain contain be':
    /\b(?:shall|should) (?:not |never |always |only |at most |)?(?:exceed|stay|remain|contain|be (?:able|kept|written|named|under|below|in|no|at most|pure|read-only|the only|limited))\b/,
  'should shouldn only shall & not never always only shouldn shall':
    /\b(?:should(?:n't| not| never| always| only)|may only|can only be|shall)\b/,
  'has have need needs & stay remain keep support fit comply conform match pass work run be & to':
    /\b(?:has|have|needs?) to (?:stay|remain|keep|support|fit|comply|conform|match|pass|work (?:on|in|with|without|offline)|run (?:on|in|under|within|without)|be (?:able|compatible|backward|below|under|in|at (?:most|least)|reproducible|deterministic|idempotent|read-only))\b/,
  'not can cannot won shouldn & exceed need depend rely import contain leave go':
    /\b(?:may not|must not|can(?:'t|not)|won't|should(?:n't| not)) (?:exceed|need|depend|rely|import|contain|leave|go (?:over|above|beyond|below))\b/,
  'restricted limited confined required rejected mandatory require requires':
    /\b(?:is|are|be) (?:restricted|limited|confined) to\b|\b(?:is|are) (?:required|rejected|mandatory)\b|\brequires? (?:an? |two |\d|approval|documentation|review|sign)/,
  'most least & at & has have take takes get gets contain contains':
    /\b(?:has|have|takes?|gets?|contains?) at (?:most|least) (?:\d|one|two|three|four|five|ten)/,
  'always & are':
    /s are always (?:in (?:the )?(?:[a-z]+ case|english|utc|singular|plural|order)|written|stored|named|kept|spelled|sorted)\b/,
  'priority precedence': /\b(?:has|have) priority\b|\b(?:takes?|take) precedence\b/,
};

/** Wishes that go beyond the current task. */
const PREFERENCE: Cues = {
  prefer:
    /\b(?:i|we)(?:'d| would)?(?: [a-zµ]+ly| usually| much)? prefer\b(?! (?:option|the (?:first|second|third|other|former|latter|last|left|right|new|old)|that|this|it|number|not|the\b|a\b|b\b))|^(?:please )?prefer\b/u,
  rather: /\bi(?:'d| would) rather (?:you|we|not)\b/,
  'want like need & i & don not never only always':
    /\bi (?:really )?(?:don't|do not|never|only|always) (?:ever )?(?:want|like|need) (?!to\b|it\b|that\b|this\b|the\b)/,
  'hate dislike insist forbid stand':
    /\bi (?:really )?(?:hate|dislike|insist|forbid|can't stand)\b(?! (?:it|that|this|the)\b)/,
  'want & all every each no only nothing any': /\bi want (?:all|every|each|no|only|nothing|any)\b/,
  'like & keep so please no not never always & i':
    /\bi (?:really )?like (?:my |to have )?(?!it\b|this\b|that\b|the\b|your\b|how\b|what\b|where\b|option\b|them\b|these\b|those\b)[^,]+, (?:keep|so|please|no|not|never|always)\b/,
  'we & only require prefer avoid stick insist not don':
    /\bwe (?:only|require|prefer|avoid|stick|insist|(?:do not|don't) (?:do|use|allow|commit|push|write|merge|ship|mock|accept|deploy))\b/,
};

/** Orders about more than one thing, with words of scope, limit or manner. */
const SCOPED: Cues = {
  '^every each any all':
    /^(?:every|each|any|all)\b(?! (?:time|i\b|we\b|you\b|of (?:it|them|this|that|these|those)))[^.!?]* (?:needs?|gets?|must|should|goes?|requires?|belongs?|starts?|ends?|uses?|lives?|stays?|comes?|follows?|carries|has to|have to)\b/,
  '^all any':
    /^(?:all|any) (?!(?:i|we|you|that|the|existing|tests?|of)\b)[^.!?]* (?:is|are) (?!(?:now|still|all|already|there|here|done|fixed|gone|good|fine|ok|set|red|green|missing|broken|failing|wrong|in the)\b)(?![a-zµ]+ing\b)[a-zµ]+/u,
  '^each one': /^each [a-zµ]+ (?:one|two|its own|exactly)\b|^one [a-zµ]+ (?:per|a|for each|for every)\b/u,
  '^when whenever every each any if & you we':
    /^(?:when(?:ever)?|every time|each time|any time|if) (?:you|we) (?:ever )?(?:are unsure|aren't sure|are not sure|are in doubt|(?:change|touch|add|edit|modify|create|write|commit|push|merge|deploy|rename|delete|remove|install|introduce|update|release|use|refactor|move|upgrade)\b)[^,]*, (?:please )?(?!(?:i|it|we|there|that|this|he|she|they|the|you|then i)\b)[a-zµ]/u,
  '^ask check talk tell confirm consult run lint format make take always first & before after whenever time':
    /^(?:please )?(?:always |first )?(?:ask|check with|talk|tell|confirm|consult|run|lint|format|make a backup|take a backup)\b[^.!?]* (?:before|after|whenever|each time|every time) (?:you |we )?(?:each |every |any |you |anything|(?:change|touch|commit|push|merg|deploy|edit|add|delet|remov|install|releas|renam|publish|ship|modify|writ|creat|drop|migrat|run|start|execut|call|spend|send|us(?:e|ing)\b|open|clos|refactor|switch|rewrit|mov|updat|upgrad)[a-zµ]*)/u,
  '^keep':
    /^(?:please )?keep (?!going|it open|this|that|me posted|the (?:first|second|last))[^.!?]*\b(?:under|below|within|above|short|small|simple|minimal|minimum|clean|pure|stable|consistent|sorted|separate|private|in sync|up to date|out of|at (?:most|least)|free of|as (?:it|they) (?:is|are)|as is|alive|intact|compatible|alphabetical|to \d+|in (?:memory|english)|only)\b/,
  '^use keep write read run touch change edit modify work stay add target test deploy commit push log store allow accept import have make only & only everywhere throughout consistently exclusively default most':
    /^(?:please )?(?:(?:use|keep|write|read|run|touch|change|edit|modify|work|stay|add|target|test|deploy|commit|push|log|store|allow|accept|import|have|make) [^.!?]* (?:only|everywhere|throughout|consistently|exclusively|by default|at most)|only (?:use|touch|change|edit|modify|write|commit|push|work|target|deploy|read|add|import|allow|accept|support|test with)\b[^.!?]*)[.!]*$/,
  '^only & may can should must': /^only [a-zµ]+s (?:may|can|should|must)\b/u,
  'use & not instead rather over for everywhere throughout only default':
    /\buse (?!(?:the|that|this|it|one|option|my) (?:second|first|other|last|one|function|same)|that\b|it\b)[^.!?]*(?:,? not (?!sure|the )|\binstead of\b|\brather than\b|\bover\b|\bfor (?:all|any|every|each|everything|anything|new)\b|\beverywhere\b|\bthroughout\b|\bonly\b|\bby default\b)/,
  '^for & all any every each everything anything':
    /^for (?:all|any|every|each|everything|anything)\b[^.!?]*,? (?:please )?(?:use|do|write|call|put|take)\b/,
  '^indent treat follow respect':
    /^(?:please )?(?:indent|treat [^.!?]+ as|follow (?:our|my|the (?:project|team|house|company|repo|usual)\S*) [^.!?]*(?:style|convention|guide|rule|pattern|standard|scheme)|respect (?:the|our|my))\b/,
  '^name prefix suffix sort write put store log document test format mark wrap return sign tag squash quote pin version capitalize spell mock call throw annotate type use keep make cover & all every each any new public private exported internal everything commits tests comments dates names logs messages errors':
    /^(?:please )?(?:name|prefix|suffix|sort|write|put|store|log|document|test|format|mark|wrap|return|sign|tag|squash|quote|pin|version|capitalize|spell|mock|call|throw|annotate|type|use|keep|make|cover) (?:all|every|each|any|new|public|private|exported|internal|everything|commits|tests|comments|dates|names|logs|messages|errors)\b/,
  '^make & sure':
    /^make sure (?:that )?(?:every|each|all|any|no|nothing|nobody|[a-zµ]+s? (?:never|always|only|stays?|remains?))\b|^make sure (?:that )?[^.!?]+ (?:before|after|whenever) (?:you|each|every|any)\b|^make sure (?:to|you) (?:always|never|only)\b/u,
  'answer reply respond write speak talk explain & in':
    /\b(?:answer|reply|respond|write|speak|talk|explain)(?: (?:to me|me|back|everything|all [a-zµ]+|comments|commit messages))? (?:only )?in (?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|chinese|japanese|korean|turkish|arabic|hindi|swedish|czech|ukrainian|plain|british|american|full sentences|bullet)/u,
  'british american': /^(?:(?:use|write) )?(?:british|american) (?:spelling|english)\b/,
  '^max maximum minimum at no not & max maximum minimum most more least':
    /^(?:max(?:imum)?|at most|no more than|not more than|minimum|at least) (?:of )?(?:\d|one|two|three|four|five|ten)/,
  'limit restrict cap': /\b(?:limit|restrict|cap) [^.!?]* (?:to|at) (?:\d|one|two|three|the)\b/,
  '^be':
    /^(?:please )?be (?:brief|concise|terse|succinct|short|formal|informal|strict|conservative|explicit|direct|blunt|consistent)\b/,
  '^short brief concise plain simple small':
    /^(?:short|brief|concise|plain|simple|small) [a-zµ]+s?(?: [a-zµ]+)?(?: only|,? (?:please|pls)\b)/u,
  'belong belongs stay stays go everything':
    /(?<!n't |not )\bbelongs? (?:in|into|under|to|on|next to)\b|^the [^,;]* stays? (?:in|as|where|the way|out|under|below)\b|^(?!it\b|this\b|that\b|he\b|she\b)(?:[a-zµ]+ ){0,2}[a-zµ]+s go (?:in|into|under|to|next to)\b|\beverything you (?:write|add|create|make) (?:goes|must|should|stays)\b/u,
  'only exclusively & happen happens work works run runs goes access':
    /\b(?:happens?|works?|runs?|goes|access) [^.!?]*\b(?:only|exclusively)[.!]*$/,
  without: /\bwithout (?:asking|telling|checking with|consulting|my (?:ok|okay|approval|permission|consent|go-ahead))/,
  'ask check wait & first before instead':
    /\b(?:ask|check with|wait for) (?:me|my|us|[a-zµ]+) (?:first|before|instead)\b|\bask instead of\b/u,
  '^no':
    /^no (?!need|problem|worr|idea|way|clue|luck|errors?\b|results?\b|output|response|difference|longer|one\b|thanks|success|effect|doubt|rush|hurry|matter|sign|reason|answer|it\b|that\b|this\b|the\b|i\b|we\b|you\b|they\b|there\b|don't|do\b|not\b|wait|but\b|stop|just\b|more questions|other questions|change\b|data\b)[a-zµ-]+(?:[ a-zµ\d/._-]*)(?:,? (?:please|pls|ever|at all)\b|\b(?:without|than) \S|\b(?:in|on|to|outside) (?:[a-zµ]+ ){0,2}(?:commits?|files?|filenames?|messages?|names?|tests?|code|comments?|src|docs|apis?|answers?|repl[a-zµ]+|repo|production|prod|main)\b)/u,
  no: /^[^,]{1,30}, no [a-zµ]+[.!]*$/u,
  '^no & new extra additional further inline global magic coded hardcoded external party default trailing public manual silent direct':
    /^no (?:new|extra|additional|further|inline|global|magic|hard-?coded|external|third-party|default|trailing|public|manual|silent|direct) [a-zµ]/u,
  'no & pls please here everywhere throughout':
    /\b(?:pls|please|from here on|everywhere|throughout)\b.*\bno [a-zµ]+s\b/u,
};

/** Questions without a question mark, and thoughts. */
const ASKED_OR_DOUBTED: Cues = {
  '^why what how who where which when does do did is are was were has have should shall may must explain describe tell document':
    /^(?:why|what|how|who|where|which|when (?:did|does|do|is|was|will)|does|do (?:i|we|you|they)|did|is|are|was|were|has|have (?:you|we|i|they)|should (?:we|i|it|they)|shall|may (?:i|we)|must (?:i|we)|explain|describe|tell me|document why)\b/,
  '^maybe perhaps possibly i what how looks it apparently':
    /^(?:maybe|perhaps|possibly|i (?:guess|suppose|wonder|thought|think (?:it|that|there|this))|what if|how about|looks like|it (?:looks|seems)|apparently)\b/,
};

/** Sentences that only look like rules: they report what happened, or ask for one thing now. */
const NO_RULE: Cues = {
  'always never & i he she they it this that which who you everyone nobody someone somebody there we':
    /\b(?:i|he|she|they|it|this|that|which|who|you|everyone|nobody|someone|somebody|there|we) (?:[a-zµ]+ly )?(?:always|never) (?!be\b|use|run|do\b|push|commit|merge|deploy|write|touch|edit|add|want|allow|skip|delete|change|guess|squash|release|log|store|ask|print|import|leave|let\b)/u,
  'always never & i it he she they this that which': /\b(?:i|it|he|she|they|this|that|which) (?:always|never)\b/,
  'not t cannot & i he she they it this that there which who someone somebody':
    /\b(?:i|he|she|they|it|this|that|there|which|who|someone|somebody) (?:don't|do not|doesn't|does not|didn't|did not|can't|cannot|couldn't) (?!want|like|ever want|need any|allow)/,
  'must & have be':
    /\b(?:there|it|this|that|he|she|they|someone|somebody|something|[a-zµ]+s?) must (?:have|be (?:a|an|the|because|some[a-zµ]*|due|wrong|broken|missing|joking|kidding|my|flaky|mad|crazy|tired|something|that|how|why|where|in the|on the|related))\b/u,
  'must & i you': /\b(?:i|you) must (?:admit|say|confess|have|be (?:missing|joking|kidding|blind))\b/,
  'should shouldn may might can cannot has needs won & it this that there they he she i':
    /\b(?:it|this|that|there|they|he|she|i) (?:should(?:n't| not)?|may not|might not|can't|cannot|has to|needs to|won't) (?!always|never|only|stay|remain|be (?:possible|kept|under|below|in |at most|able)|exceed|work (?:on|in|with|without|offline)|support|run (?:on|in|with))/,
  'say says said tell tells told complain complains complained show shows claim claims read reads':
    /\b(?:errors?|warnings?|messages?|logs?|docs?|documentation|readme|compiler|linter|console|output|manual|lint rule|test|he|she|they|it|someone) (?:says?|said|tells?|told|complains?|complained|shows?|claims?|reads?)\b/,
  'yet now time once moment today while':
    /\b(?:yet|for now|right now|just now|this time|this once|at the moment|for the moment|today|for today|while i)\b/,
  'write add create implement build make introduce draft check verify see look test assert & must never always should only has may':
    /^(?:so |then |and |now |please )*(?:write|add|create|implement|build|make|introduce|draft|check|verify|see if|look|test|assert)\b(?! sure)[^.!?]*\b(?:that|which|so that|where|when|whether|because|rule)\b[^.!?]*\b(?:must|never|always|should|only|has to|may)\b/,
  '^only just show tell give list print send fix try do run & only just':
    /^(?:only (?:show|tell|give|list|print|look|do|run|fix|check|send|return|one|two|the|a\b|three|now)|just|(?:please )?(?:show|tell|give|list|print|send|fix|try|do|run it|run this)\b[^.!?]*\bonly)\b/,
  'not don dont & that this it so':
    /\b(?:do not|don't|dont) (?:do|use|change|touch|run|add|make|push|merge|try|start|take|want) (?:that|this|it|so)(?: one)?(?: please)?[.!]*$/,
  'not don dont just like & it this that them just like':
    /\b(?:do not|don't|dont) [a-zµ]+ (?:it|this|that|them)\b(?! (?:again|anymore|unless|without|ever))|\bbut just\b|^like there\b/u,
  'and but then happen sure & not don dont never always happen sure':
    /\b(?:i|we|they|it|which|if|when) [^,;.]*\b(?:and|but|then) (?:do not|don't|dont|never|always)\b|\bshouldn't happen\b|\bbe sure\b/,
  'not don dont & bother worry forget mind hesitate panic':
    /\b(?:don't|do not|dont) (?:bother|worry|forget|mind|hesitate|panic)\b/,
  'never nevermind always': /^never ?mind\b|\bas (?:i|you|we) (?:always|never)\b/,
  'yesterday last ago':
    /\b(?:only|never|always|must) (?:[a-zµ]+ ){0,2}(?:yesterday|last (?:week|time|night|month|year)|ago)\b/u,
  'i & had have was did should could would never always only can may might':
    /\bi (?:had|have|was|did|should|could|would|never|always|only|can|could|may|might) (?:not |n't |never |always )?(?!rather|prefer|want|like|insist)/,
  'had needed was were been & always never not only allowed required forced to':
    /\b(?:had|needed|was|were|been) (?:always|never|not|only|allowed|required|forced|to)\b/,
  '^every each any & time': /^(?:every|each|any) time (?:i|it|we|they|he|she|the)\b/,
  'only & happens fail fails work works': /\bonly happens\b|\bonly (?:fails?|works?) (?:on|in|when|if)\b/,
  '^to': /^to (?:avoid|prevent|keep|stay)\b/,
  // Tasks for one occasion, and descriptions.
  '^verify confirm validate':
    /^(?:please )?(?:verify|confirm|validate)\b(?!.*\b(?:before (?:you|each|every|any)|after (?:each|every)|every time|whenever|always|never)\b)/,
  '^this & must should shall has needs':
    /^this [a-z]+ (?:must|should|shall|has to|needs to)\b(?! (?:never|always|not)\b)/,
  'great nice good helpful & would': /\bwould be (?:great|nice|good|helpful)\b/,
  '^must should & be': /^(?:must|should) be (?:[a-z]+ed|able|possible)\b/,
  '^outputs returns prints adds shows sends writes reads creates uses gets makes sets runs calls has':
    /^(?:outputs|returns|prints|adds|shows|sends|writes|reads|creates|uses|gets|makes|sets|runs|calls|has) /,
  'should must & now also then maybe probably': /\b(?:should|must) (?:now|also now|then|maybe|probably)\b/,
  '^change rename replace move fix convert switch extend & do don dont not':
    /^(?:change|rename|replace|move|fix|convert|switch|extend) [^.]*(?:,| and| but) (?:do not|don't|dont)\b/,
  '^if & i': /^if i [a-z]+/,
  'wondering & if': /\bwondering\b/,
  '^before when once': /^(?:before you (?:start|begin)|when you(?: are|'re) (?:done|finished|ready)|once you)\b/,
};

export const CUES: readonly Cues[] = [STANDING, ABSOLUTE, MODAL, PREFERENCE, SCOPED];
export const VETOES: readonly Cues[] = [ASKED_OR_DOUBTED, NO_RULE];
const findStanding = createFinder([STANDING]);
const findCue = createFinder(CUES);
const findAskedOrDoubted = createFinder([ASKED_OR_DOUBTED]);
const findVeto = createFinder(VETOES);

type Cue = { readonly pattern: RegExp; readonly needs: readonly WordSet[] };
type WordSet = { readonly isFirst: boolean; readonly words: ReadonlySet<string> };

/** Creates a check for whether a clause in lower case matches one of the patterns. V8 compiles a pattern when it is first tried. */
export function createFinder(cues: readonly Cues[]): (clause: string, words?: readonly string[]) => boolean {
  const byWord = new Map<string, Cue[]>();
  for (const [key, pattern] of cues.flatMap(Object.entries<RegExp>)) {
    const needs = key.split(' & ').map(parseWordSet);
    for (const word of needs[0]?.words ?? []) byWord.set(word, [...(byWord.get(word) ?? []), { pattern, needs }]);
  }
  return (clause, all = wordsIn(clause)) => {
    const [opening, second] = all;
    const first = opening === 'please' ? second : opening;
    const hasOneOf = ({ isFirst, words: needed }: WordSet): boolean =>
      isFirst ? first !== undefined && needed.has(first) : all.some((word) => needed.has(word));
    return all.some(
      (word) => byWord.get(word)?.some(({ pattern, needs }) => needs.every(hasOneOf) && pattern.test(clause)) === true,
    );
  };
}

function wordsIn(clause: string): readonly string[] {
  return clause.match(/[a-z]+/g) ?? [];
}

function parseWordSet(text: string): WordSet {
  const isFirst = text.startsWith('^');
  return { isFirst, words: new Set((isFirst ? text.slice(1) : text).split(' ')) };
}

/** Words that may come before the rule itself. */
const OPENING =
  /^(?:(?:ok|okay|oh|hey|hi|hmm|well|so|and|but|also|then|btw|by the way|yes|yeah|right|great|thanks|one more thing|another thing|important|note|remember|reminder|fyi|ps|pls|please note|just so you know|for the record|again|finally|first|second|third|lastly|in general|generally|it(?:'s| is) important that|i need you to|i'd like you to|i want you to|plus)(?:[,:;.!-]+ ?| ))+/;

/** Polite orders in the form of a question. */
const POLITE =
  /^(?:can|could|would|will) you (?:please )?(?=.*\b(?:from now on|in future|going forward|always|never|stop [a-zµ]+ing)\b)/u;

/**
 * The patterns above say `[a-zµ]` for a letter, and µ stands for all letters that English does not have: V8 takes a millisecond to compile each
 * `\p{L}`, which slowed down the start of the program.
 */
const OTHER_LETTERS = lazily(() => /[^\P{L}a-z]/gu);
const NOT_ASCII = /[^ -~]/;

/** Whether an English sentence in lower case states a standing rule. */
export function isEnglishRule(sentence: string): boolean {
  const read = NOT_ASCII.test(sentence) ? sentence.replace(OTHER_LETTERS(), 'µ') : sentence;
  const polite = read.replace(POLITE, '');
  if (polite === read && /\?["')\]]*$/.test(read)) return false;
  const said = polite.replace(OPENING, '');
  if (SUMMARIZED.test(said)) return false;
  const words = wordsIn(said);
  const isCued = findCue(said, words);
  const isStanding = (isCued && findStanding(said, words)) || (polite !== said && findStanding(polite));
  if (isStanding) return !findAskedOrDoubted(said, words);
  if (isCued && !findVeto(said, words)) return true;
  const unlabeled = said.replace(LABEL, '');
  return unlabeled !== said && findCue(unlabeled) && !findVeto(unlabeled);
}

/** A line of somebody's summary of the work. */
const SUMMARIZED =
  /^(?:main |primary |current |original |latest |overall |user )+(?:request|task|goal|intent|state|status|work)s?\b[^:]{0,30}:|^(?:next steps?|pending|to-?dos?|remaining|in progress)\b[^:]{0,30}:/;

/** A topic or revocation before the rule, as in "Forget Redis: …". */
const LABEL = /^[^:;]{1,40}[:;] /;

const COMMON =
  /\b(?:the|and|of|are|you|it|this|that|with|not|be|don't|your|have|has|from|what|when|one|should|must|can|needed|if|or|any|all)\b/g;

/** Whether a sentence has so many common English words. Otherwise it may be in another language, whose words can look like English cues. */
export function hasEnglishWords(sentence: string, count: number): boolean {
  COMMON.lastIndex = 0;
  for (let found = 0; found < count; found += 1) if (!COMMON.test(sentence)) return false;
  return true;
}
