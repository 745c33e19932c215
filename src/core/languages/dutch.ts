import type { Language } from './language.ts';

export const DUTCH: Language = {
  code: 'nl',
  script: 'latin',
  words:
    'de het een en of is zijn was niet geen van in op voor met te om aan bij door uit naar over onder tot als dan dat die deze dit er ik je jij jou jouw u we wij hij zij ze het mij me mijn ons onze nog al ook maar wel nu hier waar wat wie hoe waarom wanneer kan kun moet moeten mag mogen wordt worden heeft hebben heb nooit altijd alleen alle elke elk iedere zonder gebruik graag alsjeblieft',
  standing:
    'vanaf (?:nu|vandaag|hier)|voortaan|in het vervolg|van nu af aan|zonder uitzondering|in de toekomst|tot nader order',
  cues: 'nooit|altijd|moet|moeten|(?:mag|mogen|mag je|moet je) (?:\\p{L}+ ){0,3}?(?:niet|geen|nooit|alleen)|uitsluitend|vermijd|verboden|verplicht|in geen geval|onder geen beding|liever|ik wil geen|geen [^.?]*(?:gebruiken|toevoegen|alsjeblieft|svp|zonder)|zorg (?:er(?:voor)? )?dat|elke? \\p{L}+ (?:krijgt|heeft)|blijf (?:van|uit)|handen af|alleen [^.?]*(?:gebruiken|met|na|in)|gebruik (?:alleen|overal)|overal [^.?]*in plaats van|antwoord [^.?]*in het|(?:hoogstens|maximaal|minstens) \\S+|voor elke|na elke|bij elke|bij iedere|blijf(?:t)? (?:zoals|ongewijzigd|hetzelfde)|blijven (?:zoals|ongewijzigd)|^(?:raak|wijzig|verander|verwijder|gebruik|schrijf|push|commit|pas|voeg|installeer|doe) [^.?]*(?:niet|geen)|zonder (?:\\p{L}+ )?(?:overleg|vragen|toestemming)|vraag [^.?]*(?:eerst|voordat)',
  vetoes:
    'werkt|ik (?:moet|weet|heb|kan|vergeet)|heb ik|dat moet|het moet (?:een|wel)|moet (?:een|wel|haast)|waarom|laat [^.?]*zien|toon|nog niet|voorlopig|voor nu|deze keer|was|had|vergeet|(?:duurt|faalt|crasht|stopt|hangt|breekt|loopt) (?:\\p{L}+ )?(?:altijd|nooit)|geen idee|geen probleem|misschien',
  permits: '(?:mag je|je mag|je kunt|kun je) (?:\\p{L}+ ){0,4}?weer|(?:is|zijn) weer toegestaan|hoeft niet meer',
  names: 'nederlands|engels|duits|frans|spaans|italiaans|portugees|russisch|chinees|japans',
  causes: 'omdat|want|daarom|dus|doordat|oorzaak|reden|in plaats van|besloten|gekozen',
  consents: 'ja|jawel|prima|goed|akkoord|graag|ga (?:door|verder)|doe (?:maar|dat)|nee',
  announces:
    'ik (?:kijk|bekijk|ga|zal|controleer|zoek|vergelijk|test|lees|meet|probeer)|laat me|laten we|eerst (?:kijk|ga)|nu (?:kijk|ga)',
  abbreviations: 'bijv d.w.z o.a enz',
  endings: 'heden heid ingen ing eren ende end en er es e s t',
  minStem: 4,
};
