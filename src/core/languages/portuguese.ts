import type { Language } from './language.ts';

export const PORTUGUESE: Language = {
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
};
