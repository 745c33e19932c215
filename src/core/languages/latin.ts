import type { Language } from './language.ts';

/** Languages in the Latin script; but English has files of its own. */
export const LATIN: readonly Language[] = [
  // German
  {
    code: 'de',
    script: 'latin',
    words:
      'der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine keinen keiner ist sind war im in zu zum zur mit auf aus auch an am bei von vom vor für über unter nach bis um als wie wenn weil dass ob ich du er sie es wir ihr mir mich dir dich uns dein deine mein meine sich bitte nur noch schon immer nie niemals mal doch jetzt dann hier da man muss wird werden hat habe haben kann statt ohne durch gegen alle jede jeder jedes jedem so sehr was wer wo warum wieder ab',
    standing:
      'ab (?:jetzt|sofort|heute|nun|hier)|künftig|zukünftig|in zukunft|von nun an|von jetzt an|von heute an|ohne ausnahme|bis auf weiteres|als regel|für den rest',
    cues: 'niemals|nie wieder|nie|immer|stets|unbedingt|auf keinen fall|keinesfalls|ausschließlich|grundsätzlich|(?:darf|dürfen|darfst|soll|sollen|sollst|sollte|sollten) (?:\\p{L}+ ){0,4}?(?:nicht|kein\\p{L}*|nie|nur|immer)|muss|müssen|musst|verboten|tabu|untersagt|unerwünscht|pflicht|vermeide|finger weg|die finger|halte? dich an|achte? darauf|bevorzuge|ich (?:will|möchte|mag|brauche|wünsche) (?:\\p{L}+ )?kein\\p{L}*|jede[rs]? \\p{L}+ (?:braucht|bekommt)|(?:braucht|bekommt) (?:\\p{L}+ )?(?:ein|eine|einen|zwei)|bitte (?:\\p{L}+ ){0,2}?(?:kein\\p{L}*|nicht|nur)|keine? [^.?]*\\p{L}+(?:en|ern)|(?:antworte|schreib|sprich)\\p{L}* [^.?]*auf (?:deutsch|englisch)|nur [^.?]*(?:verwenden|benutzen|nutzen)|nur (?:nach|noch|mit|über|in|auf|als) \\p{L}+|keine \\p{L}+(?: in| im| ohne)|(?:vor|nach|bei) jede[mr]|^(?:bitte )?(?:fass\\p{L}*|rühr\\p{L}*|änder\\p{L}*|veränder\\p{L}*|lösch\\p{L}*|nutz\\p{L}*|benutz\\p{L}*|verwend\\p{L}*|schreib\\p{L}*|push\\p{L}*|committe\\p{L}*|entfern\\p{L}*|ergänz\\p{L}*|install\\p{L}*|nimm|mach|greif\\p{L}*|verschick\\p{L}*|füg\\p{L}*|bearbeit\\p{L}*|überschreib\\p{L}*|lass\\p{L}*) [^.?]*(?:nicht|kein\\p{L}*|überall|die finger)|überall [^.?]*statt|(?:höchstens|maximal|mindestens) (?:\\d|ein|zwei|drei|vier|fünf|zehn)[^ ]*|bleib(?:t|en),? (?:so,? )?(?:wie|unverändert|unangetastet|gleich)|gehör(?:t|en) (?:nicht )?(?:in|nach|unter)|frag\\p{L}* (?:mich |uns )?(?:\\p{L}+ )?(?:bevor|vorher|zuerst|erst)|(?:mich|uns) (?:\\p{L}+ )?(?:vorher|zuerst) (?:\\p{L}+ )?frag\\p{L}*|ohne (?:\\p{L}+ ){0,3}?(?:rücksprache|fragen|nachfrage|freigabe|zustimmung|erlaubnis)',
    vetoes:
      'ich (?:muss|weiß|habe?|hatte|kann|verstehe|vergesse|sehe|finde|glaube)|(?:habe?|hatte|weiß|kann|vergesse) ich|das muss|es muss|da muss|muss (?:wohl|ein|eine|daran|man)|zeig\\p{L}*|(?:klappt|funktioniert|ging|geht|passiert|stimmt|dauert|bricht|stürzt|scheitert|schlägt|hängt|kommt|zeigt|liefert|startet|fällt|wirft|meldet|steht|sagt|bleibt|fehlt|läuft) (?:\\p{L}+ ){0,2}?(?:nie|nicht|immer|stets)|noch nicht|erst ?(?:ein)?mal|vorerst|vorläufig|fürs erste|im moment|diesmal|(?:hat|haben) (?:\\p{L}+ ){0,8}?(?:ge\\p{L}+(?:t|en)|noch nie)|hatte|war|waren|wurde|wurden|keine ahnung|kein problem|keine sorge|vergiss|vergesst|wahrscheinlich|vielleicht|warum|wieso',
    permits:
      '(?:darfst|dürft|kannst|könnt)|(?:darf|dürfen) (?:\\p{L}+ ){0,4}?wieder|ist (?:wieder )?(?:erlaubt|in ordnung|okay)|(?:gilt|brauchst) (?:\\p{L}+ )?nicht mehr',
    names:
      'deutsch|englisch|französisch|spanisch|italienisch|portugiesisch|polnisch|russisch|chinesisch|japanisch|türkisch|arabisch|niederländisch|ukrainisch|koreanisch',
    causes:
      'weil|deshalb|deswegen|denn|daher|darum|grund|ursache|liegt (?:an|daran)|statt|entschieden|gewählt|stattdessen',
    consents: 'ja|jawohl|gerne?|genau|einverstanden|in ordnung|passt|mach(?:e|en sie)? das|weiter|nein',
    announces:
      'ich (?:schaue|sehe|prüfe|werde|messe|suche|durchsuche|vergleiche|probiere|teste|starte|lese|öffne|mache|beginne|untersuche|überprüfe|analysiere|fange)|lass(?:en sie)? (?:mich|uns)|schauen wir|als nächstes|jetzt (?:schaue|prüfe|werde)|zuerst (?:schaue|prüfe|werde)',
    abbreviations: 'usw bspw evtl ggf bzw inkl exkl vgl z.b d.h u.a o.ä u.u z.t s.o s.u i.d.r',
    endings: 'ern est end em en er es e n s t st',
    minStem: 4,
  },
  // French
  {
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
  },
  // Spanish
  {
    code: 'es',
    script: 'latin',
    words:
      'el la los las lo un una unos unas de del al y o u e es son está están en que qué quien no ni sí para con sin se su sus me mi mis te tu tus nos le les por pero como cómo cuando si ya más muy también donde dónde porque este esta esto estos estas ese esa eso hay ha han he ser siempre nunca jamás había solo sólo todo toda todos todas cada entre sobre hasta desde antes después ahora vez yo él ella usted favor nada usa usar hacer hagas debe deben',
    standing:
      'a partir de (?:ahora|hoy|aquí|este momento)|de ahora en adelante|en adelante|de aquí en adelante|de hoy en adelante|en lo sucesivo|desde ahora|sin excepci\\p{L}*|como regla|en el futuro',
    cues: 'nunca|siempre|jamás|deben?|debes|tienes? que|tienen que|hay que|prohibid\\p{L}*|obligatori\\p{L}*|únicamente|exclusivamente|evit(?:a|e|ar)|prefiero|bajo ning\\p{L}+|de ninguna manera|nada de|no quiero|no hace falta|no (?:se )?(?:debe|puede)[ns]?|usa (?:solo|sólo)|(?:solo|sólo) (?:usa|utiliza|con|por|en)\\p{L}*|(?:solo|sólo|solamente) \\p{L}+(?=[.!]?$)|(?:responde|contesta|contésta|respónde|escribe|escríbe|habla)\\p{L}* [^.?]*en (?:español|inglés|castellano)|^(?:por favor,? )?no (?:me |te |lo |la |los |las |le |se )?\\p{L}+(?:es|as|e|a|en|an)|ni (?:la |lo |los |las )?(?:toques|tocar\\p{L}*|mires|se te ocurra)|(?:como )?(?:máximo|mínimo)|a lo sumo|antes de cada|después de cada|en cada|cada vez que|se (?:queda|quedan|mantiene|mantienen|deja|dejan) (?:como|igual|tal|intact\\p{L}*)|(?:en vez|en lugar) de [^.?]*(?:en todas partes|en todo|siempre)|(?:usa|utiliza) [^.?]*(?:en vez|en lugar) de|en todas partes|sin (?:antes )?(?:consultar|preguntar|avisar|pedir|mi permiso|permiso)\\p{L}*|(?:consúlta|pregúnta|avísa)(?:me|lo|nos) [^.?]*antes|(?:consulta|pregunta) [^.?]*antes|deja [^.?]*(?:en paz|intact\\p{L}*|como está\\p{L}*)',
    vetoes:
      'no sé|no (?:funciona|arranca|carga|compila|aparece|pasa|recuerdo|encuentro|veo)\\p{L}*|nunca (?:funcion|pas|h[aeiu]|vi|us|lo h|me h)\\p{L}*|siempre (?:pas|fall|ocurr|sal|tard|se (?:cort|ca|cuelg|romp|bloque|me|reini)|me|d[aeu]|devuelv|es|est)\\p{L}*|he|hemos|había|habían|ha|han|(?:debe|tiene que|debería) (?:de )?(?:ser (?:un|una|el|la|más)|haber|ir|estar)|por qué|muéstra\\p{L}*|enséña\\p{L}*|todavía|aún|por ahora|de momento|por el momento|esta vez|olvid\\p{L}*|quizás?|tal vez|no (?:es|era|está|hay|va|entiendo|puedo|tengo|importa|pasa|te preocupes|sirve)|ayer|problema',
    permits:
      '(?:puedes|podéis|puede|pueden)(?! (?:explicar|mirar|ver|ayudar|decir))|vuelve a estar permitid\\p{L}*|está (?:permitid\\p{L}*|bien)|ya no (?:hace falta|es necesario)|volver a',
    names: 'español|castellano|inglés|francés|alemán|italiano|portugués|ruso|chino|japonés|coreano|turco|árabe',
    causes:
      'porque|ya que|puesto que|por eso|por lo tanto|así que|causa|motivo|debido|razón|en (?:vez|lugar) de|decidido|decidí|elegí|elegido|me decido',
    consents: 'sí|si|vale|claro|de acuerdo|adelante|hazlo|perfecto|continúa|continua|sigue',
    announces:
      'voy a|vamos a|déjame|déjeme|primero (?:voy|miro|reviso)|ahora (?:voy|miro|reviso|compruebo|busco)|(?:reviso|miro|busco|comparo|compruebo|pruebo|mido|leo|abro|ejecuto|empiezo|analizo|examino|consulto|veo|veamos|miremos)',
    abbreviations: 'p.ej ee.uu sr sra ud uds aprox núm pág',
    endings:
      'amientos amiento imientos imiento aciones ación acion iciones ición ciones ción cion siones sión sion amente mente adoras adores adora ador ancias ancia encias encia idades idad ables able ibles ible ando iendo aban aba ían ía aron ieron aste iste adas ados ada ado idas idos ida ido arse erse irse arlo arla ar er ir an en as es os a e o s é ó í á',
    minStem: 3,
  },
  // Portuguese
  {
    code: 'pt',
    script: 'latin',
    words:
      'o a os as um uma uns umas de do da dos das e ou é são está estão em no na nos nas num numa que não nem sim para pra com sem se seu sua seus suas me meu minha te teu tua você vocês nós eu ele ela eles elas por pelo pela mas como quando já mais muito também onde porque este esta isto isso esse essa há ser ter tem têm foi sempre nunca só apenas todo toda todos todas cada entre sobre até desde antes depois agora vez favor nada use usar fazer faça deve devem ao aos à às',
    standing:
      'a partir de (?:agora|hoje|já)|daqui (?:para|pra|em|por) (?:a )?(?:frente|diante)|de agora em diante|de hoje em diante|doravante|daqui em diante|sem exceç\\p{L}*|como regra|no futuro',
    cues: 'nunca|sempre|jamais|dev(?:e|em|es)|tem que|tem de|têm (?:que|de)|tens de|é preciso|proibid\\p{L}*|obrigatóri\\p{L}*|somente|apenas|exclusivamente|só (?:use|usa|com|por|em|pode|podem|depois)|evit(?:e|a|ar)|prefiro|de jeito nenhum|de forma alguma|em hipótese alguma|nada de|nem (?:toque|mexa|pense|pensar|tocar|mexer)|não (?:quero|precisa|é permitid\\p{L}*|pode|podem|se deve)|^(?:por favor,? )?não (?:me |o |a |os |as |se )?\\p{L}+(?:e|a|em|am|es|as|ar|er|ir)|responda?(?:-me)? [^.?]*em (?:português|inglês)|(?:responde|fala|escreve|escreva|fale)\\p{L}* [^.?]*em (?:português|inglês)|(?:no )?(?:máximo|mínimo)|antes de cada|depois de cada|a cada|em cada|sempre que|toda vez que|fica(?:m)? (?:como|igual|tal|intact\\p{L}*)|permanece(?:m)? \\p{L}+|mant(?:ém|êm|enha)\\p{L}*|(?:em vez|ao invés|no lugar) d[eo] [^.?]*(?:em tod|sempre)\\p{L}*|em todo(?:s)? (?:o|os) (?:lugar|lugares|lado|sítios)\\p{L}*|(?:use|usa|utilize) [^.?]*(?:em vez|ao invés|no lugar) d[eo]|sem (?:me |antes )?(?:perguntar|consultar|avisar|pedir|falar|minha|autorização|permissão)\\p{L}*|(?:pergunte|consulte|avise|fale)(?:-me)? [^.?]*antes|deixe? [^.?]*(?:em paz|intact\\p{L}*|como está\\p{L}*)|são (?:\\p{L}+ )?(?:escrit|guardad|armazenad|nomead)\\p{L}*|não (?:mexa|mexe|mexer|toque|toca|tocar|altere|envie|mande|volte|faça|use|encoste)\\p{L}*',
    vetoes:
      'não (?:sei|funciona|é|era|está|consigo|entendi|há|vejo|lembro|abre|roda|aparece|passa|tem problema|se preocupe)|nunca (?:funcion|vi|us|tinha|me |trabalh|ach|soub)\\p{L}*|(?:eu )?sempre (?:falh|d[áe]|lev|demor|cai|par|esqueç|me |quebr|trav|acontec|interromp|estour|retorn)\\p{L}*|(?:falha|leva|demora|cai|para|quebra|trava|esqueço|acontece|dá|cancela|é interrompid\\p{L}*) (?:\\p{L}+ )?(?:sempre|nunca)|deve (?:ser (?:um|uma|mais|o|a)|haver|ter|estar)|dev(?:ia|eria)|por que|por quê|porquê|mostr\\p{L}*|por enquanto|por ora|desta vez|dessa vez|ainda|esque[cç]\\p{L}*|talvez|tinha|tinham|havia|ontem|apenas (?:mostr|um|uma|dois|duas)\\p{L}*|só (?:um|uma|mostr)\\p{L}*|faltam?',
    permits:
      '(?:pode|podes|podem)(?! (?:explicar|olhar|ver|ajudar|me |dizer))|voltar a|está (?:liberad\\p{L}*|permitid\\p{L}*)|já não é preciso|não precisa mais',
    names: 'português|inglês|francês|alemão|italiano|espanhol|russo|chinês|japonês|coreano|turco|árabe',
    causes: 'porque|pois|por isso|portanto|já que|causa|motivo|devido|razão|em vez de|ao invés|decidi|escolhi|optei',
    consents: 'sim|claro|certo|pode(?: ser| continuar| fazer)|vai em frente|perfeito|continua|não',
    announces:
      'vou|vamos|deixa-me|deixe-me|deixa eu|deixe eu|primeiro (?:vou|vejo)|agora (?:vou|vejo|verifico)|(?:verifico|procuro|comparo|testo|meço|leio|abro|analiso|examino|olho|vejamos)',
    abbreviations: 'p.ex aprox núm pág',
    endings:
      'amentos amento imentos imento ações ação acões acao ições ição ções ção sões são amente mente adoras adores adora ador âncias ância ências ência idades idade áveis ável íveis ível ando endo indo avam ava iam ia aram eram iram ou adas ados ada ado idas idos ida ido ar er ir am em as es os ões ão ais eis a e o s',
    minStem: 3,
  },
  // Italian
  {
    code: 'it',
    script: 'latin',
    words:
      "il lo la i gli le l' un uno una un' di del dello della dei degli delle d' e ed o è sono in nel nella nei nelle che chi non né per con senza su sul sulla da dal dalla a al alla ai alle se si mi ti ci vi ne io tu lui lei noi voi loro mio mia tuo tua suo sua ma come quando già più molto anche dove perché questo questa questi queste quello ho hai ha hanno essere sempre mai solo ogni tutto tutti tutte tra fra prima dopo ora adesso poi usa usare deve devono niente",
    standing:
      "d'ora in (?:poi|avanti)|da ora in (?:poi|avanti)|da (?:adesso|oggi) in (?:poi|avanti)|in futuro|senza eccezioni|come regola|fino a nuovo ordine",
    cues: "mai|sempre|dev(?:e|ono|i)|bisogna|occorre|(?:^|, |per favore,? )non \\p{L}+(?:are|ere|ire|arli|arlo|arla|erlo)|vietat\\p{L}*|obbligatori\\p{L}*|soltanto|esclusivamente|unicamente|evita(?:re)?|preferisco|in nessun caso|per nessun motivo|usa solo|solo [^.?]*(?:usare|usa|con|per)|niente \\p{L}+ (?:in|nel|senza)|non voglio|non servono|rispondi(?:mi)? [^.?]*in (?:italiano|inglese)|al massimo|massimo|almeno|prima di ogni|dopo ogni|a ogni|ad ogni|ogni volta che|rest(?:a|ano) (?:così|com'è|come|invariat\\p{L}*|ugual\\p{L}*)|(?:invece di|al posto di) [^.?]*(?:ovunque|dappertutto)|(?:ovunque|dappertutto)|senza (?:prima )?(?:chieder|consultar|avvisar)\\p{L}*|(?:chiedimi|avvisami|consultami) [^.?]*prima|lascia [^.?]*(?:stare|in pace|com'è|intatt\\p{L}*)|giù le mani|si scriv(?:e|ono)",
    vetoes:
      'non (?:funziona|va|so|è|era|capisco|ho|posso|vedo|trovo|ricordo|parte)|ho|ha|hanno|abbiamo|avevo|(?:deve|dovrebbe) (?:essere (?:un|una|più|il|la)|esserci|avere)|perché|mostra\\p{L}*|fammi vedere|per ora|per adesso|ancora|stavolta|questa volta|dimentic\\p{L}*|forse|è sempre|(?:sempre|mai) (?:due|tre|\\d)|(?:impiega|dura|fallisce|si blocca|crasha|cade|si interrompe|dà|mette|si ferma) (?:\\p{L}+ )?(?:sempre|mai)|ieri|era|erano',
    permits:
      '(?:puoi|potete|può)(?! (?:spiegar|guardar|veder|dir|aiutar)\\p{L}*)|di nuovo (?:permess|consentit)\\p{L}*|va bene|non serve più',
    names: 'italiano|inglese|francese|tedesco|spagnolo|portoghese|russo|cinese|giapponese|coreano|turco|arabo',
    causes: 'perché|poiché|quindi|perciò|siccome|causa|motivo|dovuto|ragione|invece di|deciso|scelto',
    consents: "sì|si|va bene|certo|d['’]accordo|procedi|continua|perfetto",
    announces:
      'vado a|fammi|lasciami|prima (?:guardo|controllo)|ora (?:guardo|controllo|verifico|cerco)|adesso (?:guardo|controllo)|(?:controllo|guardo|verifico|cerco|confronto|provo|misuro|leggo|apro|analizzo|esamino|vediamo|diamo)',
    abbreviations: 'p.es ecc sig dott',
    endings:
      'amenti amento imenti imento azioni azione izioni izione zioni zione sioni sione amente mente atori atore ità abili abile ibili ibile ando endo avano ava evano eva arono ate ati ata ato ute uti uta uto ite iti ita ito are ere ire ano ono i e a o',
    prefixes: "l' d' un' dell' all' nell' sull' dall' c'",
    minStem: 3,
  },
  // Dutch
  {
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
  },
  // Swedish, Danish and Norwegian, which are close enough for one table.
  {
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
    causes:
      'eftersom|därför|derfor|fordi|orsak\\p{L}*|årsag\\p{L}*|på grund av|i stället|i stedet|valde|valgte|bestämde',
    consents: 'ja|jo|japp|gärna|gerne|precis|okej|kör|fortsätt|fortsæt|fortsett|nej|nei',
    announces:
      'jag (?:ska|tittar|kollar|kontrollerar|börjar|letar|läser)|jeg (?:skal|vil|ser|kigger|sjekker|tjekker|begynder|leser)|låt mig|lad mig|la meg|först (?:ska|tittar)|nu (?:ska|tittar|kollar)',
    abbreviations: 't.ex bl.a d.v.s f.eks osv',
    endings:
      'heterna heten ningarna ningen ningar ning erna arna orna erne ene ens ets et en er ar or ed de te a e s t',
    minStem: 4,
  },
  // Finnish
  {
    code: 'fi',
    script: 'latin',
    words:
      'ja tai ei en et eivät on ovat oli se ne tämä tuo mikä mitä missä miksi kun jos että mutta vain myös nyt aina ilman kanssa kaikki kaikkia älä älkää minä sinä hän me te he minun sinun pitää täytyy voi saa käytä vielä jo sitten ennen jälkeen',
    standing: 'tästä lähtien|tästä eteenpäin|jatkossa|vastedes|poikkeuksetta|toistaiseksi',
    cues: 'älä|älkää|aina|ei koskaan|koskaan|ei saa|eivät saa|täytyy|pitää|on pakko|pakollis\\p{L}*|ainoastaan|yksinomaan|vältä|kielletty|mieluummin|missään tapauksessa|vain [^.?]*(?:käytä|käyttää)|käytä (?:vain|aina|kaikkialla)|enintään|vähintään|ennen jokaista|joka kerta|en halua|kysymättä|pysyy \\p{L}+',
    vetoes:
      'miksi|toimi|toimii|tiedä|minä|en ole|on aina|kestää|kaatuu|näytä|vielä|toistaiseksi|älä (?:unohda|huoli|vielä)|unohd\\p{L}*|varmaan',
    permits: '(?:saat|voit|saa) (?:\\p{L}+ ){0,3}?taas|on taas sallittu',
    names: 'suomeksi|englanniksi|ruotsiksi|saksaksi',
    causes: 'koska|siksi|syy|johtuu|sijaan|päätin|valitsin',
    consents: 'kyllä|joo|juu|selvä|sopii|jatka|ei',
    announces: 'katson|tarkistan|aloitan|etsin|luen|vertaan|kokeilen|ensin|katsotaan',
    abbreviations: 'esim jne mm',
    endings:
      'issaan issa issä ista istä illa illä ilta iltä ille iksi ineen ien iden jen den ssa ssä sta stä lla llä lta ltä lle ksi tta ttä na nä ja jä ia iä en in an än it at ät et t n a ä i e',
    minStem: 4,
  },
  // Polish
  {
    code: 'pl',
    script: 'latin',
    words:
      'i oraz a ale lub albo nie jest są był była było w we na do z ze od po o u przy przez dla bez pod nad za jak co kto gdzie kiedy dlaczego czy że żeby to ten ta te tego tej tym tych się mnie mi ja ty on ona my wy mój moja twój już jeszcze tylko też także teraz zawsze nigdy bardzo wszystkie wszystko każdy każda każde proszę można trzeba musi muszą używaj przed ma maksymalnie najwyżej bo więc',
    standing:
      'od teraz|odtąd|od tej pory|od dziś|od dzisiaj|w przyszłości|na przyszłość|bez wyjątk\\p{L}*|do odwołania',
    cues: 'nigdy|zawsze|nie wolno|musi|muszą|musisz|należy|trzeba|wyłącznie|jedynie|unikaj\\p{L}*|zabroni\\p{L}*|zakaz\\p{L}*|wolę|preferuj\\p{L}*|obowiązkow\\p{L}*|pod żadnym pozorem|w żadnym wypadku|tylko [^.?]*(?:używaj|używać|po|przez|z|w)|używaj (?:tylko|wszędzie)|wszędzie|zamiast [^.?]*wszędzie|(?:proszę )?nie (?:\\p{L}+(?:aj|uj|ij|yj|ź|ób|mień|rusz|dodawaj|dotykaj)(?:cie)?)|żadnych|nie chcę|odpowiadaj [^.?]*po|co najwyżej|maksymalnie|najwyżej|co najmniej|przed każdym|po każdym|za każdym razem|zostaj(?:e|ą)|pozostaj(?:e|ą)|bez (?:pytania|konsultacji|mojej|uzgodnienia)|zapytaj [^.?]*zanim|zostaw [^.?]*w spokoju',
    vetoes:
      'dlaczego|czemu|nie (?:działa|wiem|rozumiem|mogę|pamiętam|widzę)|nigdy nie (?:dział|by|wid|używ|miał)\\p{L}*|to musi być|musi być (?:błąd|coś)|pokaż|jeszcze nie|na razie|tym razem|ja|mam|było|był|była|zapomn\\p{L}*|zapomin\\p{L}*|zawsze (?:trwa|pada|kończy|zawiesza|wywala|zapominam)|powinno|chyba|może',
    permits:
      '(?:możesz|wolno|można) (?:\\p{L}+ ){0,3}?(?:znowu|znów|ponownie|już)|(?:znowu|znów) (?:możesz|wolno|można)|jest (?:znowu )?dozwolon\\p{L}*|nie trzeba już',
    names: 'polsku|angielsku|niemiecku|francusku|hiszpańsku|rosyjsku',
    causes: 'ponieważ|bo|dlatego|więc|gdyż|przyczyn\\p{L}*|powód|powodu|zamiast|zdecydowałem|wybrałem',
    consents: 'tak|jasne|dobrze|zgoda|śmiało|kontynuuj|nie',
    announces:
      'sprawdz(?:ę|am)|zobaczę|zobaczmy|spójrz\\p{L}*|najpierw|teraz (?:sprawdzę|zobaczę)|poszukam|porównam|przejrzę|zaczynam|zacznę|uruchomię|przeczytam|pozwól',
    abbreviations: 'np itd itp tzn m.in tj',
    endings:
      'owania owanie owaniu aniach anie ania aniu enie enia eniu ościami ości ość ami ach owi owie ego emu iej iego iemu ych ymi ich imi ów om ie ię ią ią ę ą y i a e o u em am ej ał ała ało ały eli ować ać ić yć eć',
    minStem: 3,
  },
  // Czech and Slovak.
  {
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
  },
  // Romanian
  {
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
  },
  // Hungarian
  {
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
  },
  // Turkish
  {
    code: 'tr',
    script: 'latin',
    words:
      've veya ya da de ki bir bu şu o bunu onu bana sana beni seni benim senin için ile gibi kadar daha çok az en ne neden niye nasıl nerede kim mi mı mu mü ama fakat ancak çünkü değil var yok her hiç hep tüm bütün hepsi ben sen biz siz önce sonra şimdi artık lütfen asla zaman yalnızca sadece iki üç olarak ise bile göre böyle şöyle yerine üzere istiyorum istemiyorum kullan yaz yap yapma ol olsun olacak olmalı gerek lazım hangi',
    standing:
      'bundan (?:sonra|böyle)|şu andan itibaren|artık hep|artık her zaman|bu andan sonra|istisnasız|aksini söyleyene kadar',
    cues: 'asla|her zaman|daima|mutlaka|kesinlikle|sakın|yalnızca|sadece [^.?]*(?:kullan|ile|için)\\p{L}*|artık [^.?]*(?:yaz|kullan|cevap|yanıt)\\p{L}*|bir daha|yasak\\p{L}*|zorunlu\\p{L}*|\\p{L}+(?:malı|meli)(?:dır|dir|sın|sin|yız|yiz)?|kaçın\\p{L}*|tercih ed\\p{L}*|hiçbir (?:koşulda|zaman|şekilde|durumda)|\\p{L}{3,}(?:mayın|meyin)(?:ız|iz)?|lütfen [^.?]*(?:ma|me)|\\p{L}{2,}(?:ma|me)(?=$|[,;.!])|\\p{L}+(?:mak|mek) yok|(?:bana )?sormadan|haber vermeden|onay almadan|izin almadan|istemiyorum|gerek yok|en fazla|en çok \\d+|en az|\\p{L}+den önce|\\p{L}+dan önce|her \\p{L}+(?:ten|tan|den|dan) (?:önce|sonra)|olduğu gibi|aynen kal\\p{L}*|her yerde (?:\\p{L}+ )*?(?:yerine|kullan)\\p{L}*|yerine (?:\\p{L}+ )*?kullan\\p{L}*|dokunma\\p{L}*|elleme\\p{L}*',
    vetoes:
      'neden|niye|niçin|çalışmı\\p{L}*|bilmi\\p{L}*|her zaman (?:hata|aynı)|hata olmalı|(?:sorun|hata)[^.?]* olmalı|(?:daha|şimdi) \\p{L}+ olmalı|göster\\p{L}*|henüz|şimdilik|bu sefer|unut\\p{L}*|hiç \\p{L}+(?:dım|dim|dum|düm|tım|tim|tum|tüm|medim|madım)|\\p{L}+ (?:mı|mi|mu|mü)|(?:hep|her zaman|daima) (?:\\p{L}+ ){0,6}?(?:sür|çök|kesil|takıl|düş|unut|hata ver|kapan)\\p{L}*(?:yor|dü|di|ir|ur)\\p{L}*|\\p{L}+(?:medim|madım|mıştım|miştim)|sanırım|galiba|belki|teşekkür\\p{L}*',
    permits:
      '\\p{L}+(?:abilir|ebilir)(?:sin|siniz|iz)?|(?:tekrar|yine|yeniden) serbest|serbest|artık (?:serbest|sorun değil|gerek yok)',
    names: 'türkçe|ingilizce|almanca|fransızca|ispanyolca|rusça|arapça',
    causes:
      'çünkü|bu yüzden|bu nedenle|dolayısıyla|sebe[bp]\\p{L}*|neden(?:i|iyle)|yerine|zira|karar verdim|seçtim|tercih ettim',
    consents: 'evet|tamam|olur|tabii|devam(?: et)?|hayır',
    announces:
      'önce|şimdi|bir bak\\p{L}*|bak(?:ayım|alım|acağım)|(?:\\p{L}+ ){1,5}(?:\\p{L}+(?:acağım|eceğim|ayım|eyim|alım|elim)|(?:bakı|inceli|karşılaştırı|ölçü|arı|deni|kontrol edi|oku|açı)\\p{L}*yorum)',
    abbreviations: 'vb vs örn yy bkz',
    endings:
      'larından lerinden larının lerinin larında lerinde larına lerine larını lerini larımız lerimiz lardan lerden ların lerin larda lerde lara lere ları leri ımızdan imizden ımız imiz umuz ümüz lar ler ndan nden nda nde sından sinden sının sinin sına sine sını sini ından inden ının inin ında inde ına ine ını ini dan den tan ten da de ta te nın nin nun nün ın in un ün sı si su sü yı yi yu yü ya ye la le ı i u ü a e',
    minStem: 4,
  },
  // Indonesian and Malay.
  {
    code: 'id',
    script: 'latin',
    words:
      'yang dan atau di ke dari untuk dengan tanpa pada dalam oleh ini itu adalah ada tidak tak bukan jangan belum sudah telah akan bisa boleh harus saya aku kamu anda kami kita dia mereka apa siapa mana kenapa mengapa bagaimana kapan jika kalau karena tetapi tapi juga hanya saja lagi selalu semua setiap sebelum sesudah setelah sekarang tolong mohon lebih sangat seperti agar supaya pernah',
    standing: 'mulai sekarang|mulai hari ini|ke depannya|untuk selanjutnya|seterusnya|tanpa kecuali|tanpa pengecualian',
    cues: 'jangan(?: pernah)?|selalu|harus|wajib|hanya [^.?]*(?:gunakan|pakai|boleh|dengan)|gunakan hanya|dilarang|terlarang|tidak boleh|tidak usah|hindari|pastikan|lebih suka|dalam keadaan apa pun|saya tidak (?:mau|ingin)|paling banyak|maksimal|minimal|sebelum setiap|setiap kali|di mana-mana|di semua tempat|alih-alih|tetap (?:seperti|sama|apa adanya)|biarkan [^.?]*(?:saja|apa adanya)|tanpa (?:bertanya|izin|persetujuan|tanya)|tanya(?:kan)? [^.?]*(?:dulu|sebelum)',
    vetoes:
      'kenapa|mengapa|jangan (?:khawatir|lupa)|(?:jangan|nanti|lihat|coba) (?:\\p{L}+ )?dulu|saya (?:harus|tidak (?:tahu|bisa|mengerti)|selalu|belum|lupa)|selalu (?:gagal|error|butuh|memakan|berhenti|lupa|putus|terputus|mati)|tunjukkan|perlihatkan|pasti(?! kan)|sudah|belum|untuk sementara|sementara|kali ini|lupa|mungkin|seharusnya|harus(?:nya)? (?:lebih|ada)',
    permits: '(?:boleh|bisa) (?:\\p{L}+ ){0,4}?lagi|(?:sudah )?diizinkan|diperbolehkan|tidak perlu lagi',
    names: 'indonesia|inggris|melayu|jerman|prancis|jepang',
    causes: 'karena|sebab|sehingga|jadi|oleh karena itu|akibat|alasan\\p{L}*|daripada|alih-alih|memilih|memutuskan',
    consents: 'ya|iya|oke|baik|boleh|lanjut(?:kan)?|silakan|tidak',
    announces:
      'saya (?:akan|cek|periksa|lihat|coba|mulai|cari|bandingkan)|mari|biar saya|pertama|sekarang saya|coba saya',
    abbreviations: 'dll dsb mis',
    endings: 'nyalah kanlah kannya annya inya nya kan lah kah pun an i',
    prefixes: 'memper menge menye meng mem men me di ber per peng pen pem pe ter se ke',
    minStem: 4,
  },
  // Vietnamese
  {
    code: 'vi',
    script: 'latin',
    words:
      'và hoặc hay là của cho với trong ngoài trên dưới từ đến để thì mà nhưng nếu khi vì nên không chưa đã đang sẽ được bị có các những một hai này đó kia ấy tôi bạn anh chị em mình chúng ta nó họ gì sao nào đâu ai cũng vẫn còn chỉ rất quá lại ra vào lên xuống hãy đừng phải luôn mọi mỗi tất cả trước sau bây giờ nữa thêm bao giờ trở thể',
    standing:
      '(?:kể )?từ (?:bây giờ|giờ|nay|lúc này)(?: trở đi)?|kể từ (?:bây giờ|nay)|về sau|sau này|từ giờ trở đi|không có ngoại lệ',
    cues: 'không được|đừng(?: bao giờ)?|luôn|luôn luôn|phải|bắt buộc|tuyệt đối|cấm|nghiêm cấm|tránh|ưu tiên|không bao giờ|chỉ (?:được|dùng|sử dụng|thụt|viết|trả)|chỉ [^.?]*(?:thôi|tab)|(?:tôi )?không (?:muốn|cần|thích)|tối đa|nhiều nhất|không quá|ít nhất|trước mỗi|sau mỗi|mỗi (?:khi|lần)|giữ nguyên|để nguyên|vẫn giữ|thay (?:vì|cho) [^.?]*(?:ở mọi|khắp)|(?:ở )?(?:mọi nơi|khắp nơi)|(?:dùng|sử dụng) [^.?]*thay (?:vì|cho)|(?:mà )?(?:không|chưa) (?:hỏi|xin phép|có sự đồng ý)|hỏi (?:ý )?(?:kiến )?tôi (?:trước|đã)|không (?:dùng|sử dụng|thêm|sửa|xóa|chạm|động|đụng|gửi)',
    vetoes:
      'tại sao|vì sao|sao|đừng (?:lo|quên)|tôi (?:luôn|chưa|hay|không (?:biết|hiểu|thấy|thể)|phải|quên)|luôn (?:bị|lỗi|mất|thất bại|dừng|ngắt|hỏng)|mất (?:hai|\\d+) phút|không được rồi|phải không|hãy cho|cho (?:tôi|mình) (?:xem|biết)|cho xem|chưa (?:bao giờ|từng)|khoan|tạm thời|lúc này|lần này|vội|chắc (?:chắn|là|phải)?|hẳn|có lẽ|(?:này|đó) phải (?:là|nhanh)|quên|phải (?:là|có) (?:lỗi|một)',
    permits:
      '(?:có thể|được phép) (?:\\p{L}+ ){0,5}?(?:lại|trở lại|rồi)|lại (?:có thể|được phép)|không cần (?:\\p{L}+ ){0,4}?nữa|(?:bạn|anh) (?:có thể|được)',
    names: '(?:bằng )?tiếng \\p{L}+',
    causes: 'vì|bởi vì|bởi|do đó|vì vậy|vì thế|nên|nguyên nhân|lý do|thay vì|quyết định|chọn',
    consents: 'vâng|có|được|đồng ý|ừ|tiếp tục|không',
    announces:
      '(?:để )?(?:tôi|mình|em) (?:sẽ|xem|kiểm tra|thử|so sánh|tìm|đo|đọc|chạy)|(?:tôi|mình) (?:đang|bắt đầu)|trước (?:tiên|hết)|đầu tiên|hãy (?:xem|để)|bây giờ (?:tôi|mình)',
    abbreviations: 'vd tp',
  },
];
