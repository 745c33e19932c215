import type { Language } from './language.ts';

export const FRENCH: Language = {
  code: 'fr',
  script: 'latin',
  words:
    "le la les l' des un une du de d' et ou est sont ne n' n pas plus en que qu' qui tu te toi vous il elle on nous je j' jamais toujours dans pour par sur sous avec sans ce cet cette ces mon ma mes ton ta tes son sa ses leur leurs au aux à y où mais donc car si se s' c' c'est ça cela être avoir fait faire doit doivent peux peut quand comme tout toute tous toutes même aussi encore avant après chaque aucun aucune rien s'il plaît merci",
  standing:
    "désormais|dorénavant|à partir (?:de maintenant|d'aujourd'hui|de là)|à l'avenir|sans exception|jusqu'à nouvel ordre|dès maintenant|pour le reste",
  cues: "jamais|toujours|systématiquement|impérativement|doi(?:t|vent|s)|devez|il faut|(?:ne|n')[^.?]* (?:pas|plus|jamais)|^pas (?:de|d')|plus (?:de|d') [^.?]*(?:sans|dans)|interdit\\p{L}*|interdiction|obligatoires?|défense de|hors de question|pas touche|uniquement|exclusivement|seulement|évite[rz]?|je préfère|préfère|veille[rz]? à|en aucun cas|sous aucun prétexte|pas de \\p{L}+ [^.?]*(?:sans|dans|svp|merci)|aucune? [^.?]*(?:sans|dans|svp|ne doit)|je ne (?:veux|souhaite) (?:pas|plus|aucun\\p{L}*)|pas besoin de|répond(?:s|ez|re)?(?:-moi)? [^.?]*en (?:français|anglais)|(?:au maximum|au plus|maximum|au moins)|avant chaque|après chaque|à chaque|chaque fois que|reste(?:nt)? (?:telle?s? quelle?s?|comme|inchangée?s?|identiques?)|(?:au lieu|plutôt que) [^.?]*partout|partout [^.?]*(?:au lieu|plutôt que)|(?:utilise|emploie)[rz]? [^.?]*(?:partout|au lieu|plutôt que)|sans (?:me |nous )?(?:demander|consulter|prévenir|mon accord|mon autorisation|en parler)|(?:demande|consulte|préviens)[rz]?(?:-moi)? [^.?]*(?:avant|d'abord)|laisse[rz]? [^.?]*(?:tranquille|tel quel|intact)\\p{L}*|s'écri(?:t|vent)|que des|que les",
  vetoes:
    "je (?:n'ai|ne sais|ne comprends|ne vois|ne peux|n'arrive|ne trouve|ne pense|n'avais|oublie|dois)|j'(?:ai|oublie|avais|étais)|j'ai|il n'a|ça (?:ne|n'\\p{L}+|doit|devrait|marche)|n'(?:a|ont|avait|est|était)|(?:ne|n') (?:marche|fonctionne|passe|démarre|répond)|(?:ne|n')(?:marche|fonctionne)|ce doit|(?:doit|devrait|doivent) (?:être (?:un|une|dû|lié|plus|à)|avoir)|pourquoi|montre\\p{L}*|pas encore|encore pas|pour l'instant|pour le moment|provisoirement|cette fois|n'oublie[zr]?|oublie[zr]?|(?:prend|dure|plante|échoue|tombe|coupe|casse|redémarre|met|renvoie|affiche|s'arrête|bloque|arrive) (?:\\p{L}+ )?(?:toujours|jamais)|toujours (?:pareil|en erreur|\\p{L}+ minutes)|peut-être|était|étaient|c'était|hier|problème|grave",
  permits:
    '(?:tu peux|vous pouvez|on peut)(?! (?:m|regarder|voir|expliquer|vérifier))|est (?:de nouveau |à nouveau )?(?:autorisée?|permise?|possible|ok)|(?:de|à) nouveau|plus besoin de',
  names:
    'français|anglais|allemand|espagnol|italien|portugais|néerlandais|polonais|russe|chinois|japonais|coréen|turc|arabe',
  causes:
    "parce qu[e']|car|donc|puisqu[e']|à cause|c'est pourquoi|raison|plutôt que|au lieu|vient de|choisi|décidé|opté",
  consents: "oui|ouais|d['’]accord|vas-y|allez-y|continue[rz]?|parfait|bien sûr|non",
  announces:
    "je (?:vais|regarde|vérifie|cherche|commence|compare|teste|lis|mesure|consulte|parcours|lance|m'occupe)|j'(?:examine|essaie|ouvre|analyse|inspecte)|(?:laisse|laissez)-moi|voyons|regardons|commençons|d'abord,? je|maintenant,? je",
  abbreviations: 'p.ex c.-à-d env réf',
  endings:
    'issements issement ements ement ations ation ateurs ateur atrices atrice ités ité euses euse eaux eau aux ales ale elles elle ives ive ables able ants ante ant erons eront erez aient ait ais iez ions ons ent ées ée és é er ez ir es e s x',
  prefixes: "l' d' qu' n' s' c' j' m' t'",
  minStem: 4,
};
