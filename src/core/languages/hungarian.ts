import type { Language } from './language.ts';

export const HUNGARIAN: Language = {
  code: 'hu',
  script: 'latin',
  words:
    'a az egy és vagy de hogy nem ne is csak már még ez az ezt azt ezek azok mi mit ki hol mikor miért ha mert mint van vannak volt lesz kell lehet én te ő mi ti ők nekem neked minden mindig soha most itt ott előtt után nélkül helyett legyen kérlek kérem meg el',
  standing: 'mostantól|ezentúl|innentől|a jövőben|ettől kezdve|kivétel nélkül|további értesítésig',
  cues: 'soha|sose|mindig|kötelező|tilos|kizárólag|kerüld|semmiképp\\p{L}*|semmi esetre|ne \\p{L}+|\\p{L}+ ne \\p{L}+|nem (?:szabad|lehet|akarok|kérek)|csak [^.?]*(?:használj|\\p{L}+val|\\p{L}+vel)\\p{L}*|kell|legfeljebb|maximum|legalább|minden \\p{L}+ (?:előtt|után)|mindenhol|helyett [^.?]*mindenhol|marad(?:jon)?|kérdezz\\p{L}*|megkérdezés nélkül|engedélyem nélkül|válaszolj [^.?]*(?:magyarul|angolul)',
  vetoes:
    'miért|nem (?:működik|tudom|értem|megy|találom)|még (?:ne|nem)|egyelőre|most még|ne felejts\\p{L}*|elfelejt\\p{L}*|mutasd|(?:mindig|soha) (?:elfelejt|két|\\d|leáll|elszáll|nem (?:volt|látt|használt))\\p{L}*|biztos|volt|talán',
  permits: '(?:megint|újra|ismét) (?:szabad|lehet|\\p{L}+hatsz|\\p{L}+hetsz)|már (?:szabad|lehet)',
  names: 'magyarul|angolul|németül|franciául',
  causes: 'mert|ezért|mivel|így|ok|oka|helyett|döntöttem|választottam',
  consents: 'igen|jó|rendben|persze|mehet|folytasd|nem',
  announces:
    'megnézem|ellenőrzöm|nézzük|először|most (?:megnézem|ellenőrzöm)|keresem|összehasonlítom|kipróbálom|lemérem|elolvasom',
  abbreviations: 'pl stb kb ill',
  endings:
    'aiban eiben okban ekben okat eket akat kat ket ban ben ból ből ról ről tól től nak nek hoz hez höz val vel ért ként ként ig on en ön án én ak ek ok ök ai ei jai jei ja je at et ot öt ra re ba be nál nél t k a e i',
  minStem: 4,
};
