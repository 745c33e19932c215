import type { Language } from './language.ts';

/** Czech and Slovak. */
export const CZECH: Language = {
  code: 'cs',
  script: 'latin',
  words:
    'a i ale nebo alebo ne nie je jsou sú byl byla bolo bylo v ve na do z ze od po o u při pri pro pre bez pod nad za jak ako co čo kdo kto kde kdy kedy proč prečo že to ten ta te ty tento této se sa si mi mě ja já on ona my vy můj môj tvůj už ještě ešte jen len jenom také tiež teď teraz vždy nikdy každý každá každé prosím musí může môže před pred',
  standing:
    'odteď|od teď|od teraz|odteraz|od této chvíle|v budoucnu|v budúcnosti|napříště|nadále|bez výjimky|bez výnimky',
  cues: 'nikdy|vždy|vždycky|vžd[yi]|musí|musíš|musia|nesmí|nesmíš|nesmie|pouze|výhradně|výlučne|jedině|vyhýbej\\p{L}*|vyhni|zakáz\\p{L}*|zákaz\\p{L}*|preferuj\\p{L}*|povinn\\p{L}*|v žádném případě|^(?:prosím,? )?ne\\p{L}+(?:ej|uj|i|te|ň|j|aj)|žádné \\p{L}+ bez|nechci|odpovídej|odpovedaj|maximálně|nejvýše|před každým|po každém|pokaždé|všude [^.?]*místo|místo [^.?]*všude|zůstáv\\p{L}*|bez (?:zeptání|konzultace|dotazu|souhlasu)',
  vetoes:
    'proč|prečo|nefunguje|nevím|neviem|nemůžu|to musí být|ukaž|zatím|zatiaľ|ještě|ešte|jsem|som|byl[oa]?|nikdy ne(?:fungoval|bylo|vid|použ)\\p{L}*|nezapomeň\\p{L}*|nezabudni|zapomín\\p{L}*|(?:trvá|padá|spadne) vždy|vždy (?:trvá|padá|spadne)|asi',
  permits:
    '(?:můžeš|smíš|môžeš|smieš) (?:\\p{L}+ ){0,3}?(?:zase|znovu|opäť|opět)|(?:zase|opět|opäť) (?:můžeš|smíš|môžeš)|je (?:opět )?povolen\\p{L}*',
  names: 'česky|slovensky|anglicky|německy|nemecky',
  causes:
    'protože|pretože|proto|preto|takže|příčin\\p{L}*|príčin\\p{L}*|důvod\\p{L}*|dôvod\\p{L}*|místo|namísto|rozhodl\\p{L}*|vybral\\p{L}*',
  consents: 'ano|jo|jasně|dobře|áno|jasné|dobre|pokračuj|ne|nie',
  announces:
    'podívám|pozriem|zkontroluji|skontrolujem|nejdřív|najprv|teď (?:se )?podívám|zkusím|skúsim|porovnám|hledám|spustím|začnu',
  abbreviations: 'např atd apod tzn tj',
  endings:
    'ováním ování ování ostmi ostí osti ost ními ních ního nému ami emi ách ích ech ové ovi ého ému ých ými ům ou em ě é í ý á ů y i a e o u al ala alo ovat at it et',
  minStem: 3,
};
