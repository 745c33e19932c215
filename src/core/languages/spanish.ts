import type { Language } from './language.ts';

export const SPANISH: Language = {
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
};
