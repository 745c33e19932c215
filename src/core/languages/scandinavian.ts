import type { Language } from './language.ts';

/** Swedish, Danish and Norwegian, which are close enough for one table. */
export const SCANDINAVIAN: Language = {
  code: 'sv',
  script: 'latin',
  words:
    'och og att at en et ett den det de är er var inte ikke ej på i med för for til till av af om som men eller jag jeg du vi han hun hon ni vad hva hvad varför hvorfor hur hvordan kan ska skal må får måste har hade havde alltid altid aldrig aldri nu nå bara bare kun alla alle inga ingen utan uten uden från fra innan före etter efter när når också også min din vår mig meg dig deg använd brug bruk',
  standing:
    'från och med nu|hädanefter|fra (?:nu|nå) av|fremover|framöver|i fortsättningen|i fremtiden|heretter|utan undantag|uten unntak|uden undtagelse',
  cues: 'aldrig|aldri|alltid|altid|måste|får (?:inte|ikke|ej)|må (?:ikke|aldrig|aldri)|skal|ska|endast|enbart|kun|undvik|undgå|unngå|förbjud\\p{L}*|forbud\\p{L}*|forbudt|under inga omständigheter|inga [^.?]*(?:tack|utan|i)|ingen [^.?]*(?:takk|tak|uden|uten|i)|helst|foretrækker|foretrekker|föredrar|^(?:rör|ändra|använd|radera|rør|endre|ændr|bruk|brug|slett|slet) [^.?]*(?:inte|ikke)|(?:högst|maximalt|højst|maks|minst|mindst) \\S+|(?:före|innan|før) varje|(?:før|etter|efter) hver\\p{L}*|varje gång|i stället för|i stedet for|överallt|overalt|utan att fråga|uten å spørre|uden at spørge|jag vill inte|jeg vil ikke',
  vetoes:
    'varför|hvorfor|fungera[rd]\\p{L}*|virker|vet|ved|jag (?:har|vet|kan|glömmer)|jeg (?:har|vet|ved|kan|glemmer)|det (?:är|er|måste|skal)|har|hade|havde|visa|vis mig|vis meg|ikke endnu|ikke ennå|inte än|tills vidare|foreløbig|foreløpig|glöm|glem|denna gång|denne gang',
  permits: '(?:får|må|kan) (?:du )?(?:\\p{L}+ ){0,3}?(?:igen|igjen)|är tillåtet|er tilladt|er tillatt',
  names: 'svenska|dansk|norsk|engelska|engelsk|tyska|tysk|franska|fransk',
  causes: 'eftersom|därför|derfor|fordi|orsak\\p{L}*|årsag\\p{L}*|på grund av|i stället|i stedet|valde|valgte|bestämde',
  consents: 'ja|jo|japp|gärna|gerne|precis|okej|kör|fortsätt|fortsæt|fortsett|nej|nei',
  announces:
    'jag (?:ska|tittar|kollar|kontrollerar|börjar|letar|läser)|jeg (?:skal|vil|ser|kigger|sjekker|tjekker|begynder|leser)|låt mig|lad mig|la meg|först (?:ska|tittar)|nu (?:ska|tittar|kollar)',
  abbreviations: 't.ex bl.a d.v.s f.eks osv',
  endings: 'heterna heten ningarna ningen ningar ning erna arna orna erne ene ens ets et en er ar or ed de te a e s t',
  minStem: 4,
};
