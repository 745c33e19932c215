import type { Language } from './language.ts';

export const GERMAN: Language = {
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
};
