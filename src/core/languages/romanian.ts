import type { Language } from './language.ts';

export const ROMANIAN: Language = {
  code: 'ro',
  script: 'latin',
  words:
    'și sau dar nu este sunt era în pe la de din cu fără pentru prin spre că să se își mă îmi te îți ne vă lui ei lor un o al ale cel cea cei cele acest această aceste ce cine unde când cum de dacă mai foarte tot toate toți doar numai acum niciodată întotdeauna mereu am ai are avem au eu tu el ea noi voi meu mea tău ta vreau poți trebuie fiecare înainte după',
  standing: 'de acum (?:înainte|încolo)|de azi înainte|pe viitor|fără excepți\\p{L}*|de aici înainte',
  cues: 'niciodată|întotdeauna|mereu|trebuie|interzis\\p{L}*|obligatori\\p{L}*|exclusiv|evit(?:ă|ați|a)|prefer|în niciun caz|sub nicio formă|^nu \\p{L}+|nu (?:atinge|folosi|modifica|șterge|schimba|scrie|adăuga|trimite)\\p{L}*|nu vreau|folosește (?:doar|numai|peste tot)|peste tot|în loc de|(?:doar|numai) \\p{L}+|răspunde\\p{L}* [^.?]*în (?:română|engleză)|cel mult|maximum|cel puțin|înainte de fiecare|după fiecare|de fiecare dată|rămân(?:e|ă) \\p{L}+|fără să (?:mă )?întreb\\p{L}*|întreabă-mă',
  vetoes:
    'de ce|nu (?:știu|merge|funcționează|înțeleg|pot|văd|este|e|mai)|n-am|am|arată\\p{L}*|încă|deocamdată|momentan|de data asta|nu uita|uit|trebuie să fie (?:o|un)|(?:durează|pică|cade) (?:mereu|întotdeauna)|(?:mereu|întotdeauna) (?:durează|pică|cade|uit)|poate',
  permits: '(?:poți|puteți)(?: (?:\\p{L}+ ){0,3}?(?:din nou|iar))|este (?:din nou )?permis\\p{L}*',
  names: 'română|engleză|franceză|germană|spaniolă',
  causes: 'pentru că|fiindcă|deoarece|de aceea|deci|cauz\\p{L}*|motiv\\p{L}*|în loc de|am ales|am decis',
  consents: 'da|bine|sigur|desigur|continuă|nu',
  announces: 'mă uit|verific|să (?:văd|vedem|verific)|caut|compar|încerc|măsor|citesc|mai întâi|lasă-mă',
  abbreviations: 'etc nr pag',
  endings:
    'urilor elor ilor iile iei ului ăm ați iri ire are ere ând ind ește esc at ată ați ate ul ua le ii ea ei i e a ă u',
  minStem: 4,
};
