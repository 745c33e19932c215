import { lazily } from '../lazy.ts';

/** Languages, and a letter that each of their cues contains. */
type Script = { readonly letter: RegExp; readonly languages: readonly RuleLanguage[] };

/**
 * How a language states a standing rule. `gate`: a sentence without any of these words (`*` for any ending) is in another language or states no
 * rule. Looking them up spares compiling the patterns.
 */
type RuleLanguage = { readonly gate?: Gate; readonly cue: Pattern; readonly veto?: Pattern };
type Gate = (sentence: Sentence) => boolean;
type Sentence = { readonly text: string; readonly words: readonly string[] };
type Pattern = Pick<RegExp, 'test'>;

// All letters and marks that occur in the patterns; µ and U+0300 stand for every other one. V8 takes a millisecond to compile each `\p{L}`,
// which slowed down the start of the program.
const LETTERS = 'a-zµß-öø-ɏЀ-ҁҊ-ԯḀ-ỿء-غف-يऄ-हक़-ॡ';
const MARKS = '\\u0300-\\u036f\\u064b-\\u0652\\u0900-\\u0903\\u093c\\u093e-\\u094d';
const OTHER_LETTERS = lazily(() => new RegExp(`[^\\P{L}${LETTERS}]`, 'gu'));
const OTHER_MARKS = lazily(() => new RegExp(`[^\\P{M}${MARKS}]`, 'gu'));

const WORD = new RegExp(`[${LETTERS}${MARKS}]+`, 'gu');

/** The words of a language, and where `&` stands, also those of its cue: a sentence needs one of each. */
function gate(text: string): Gate {
  const sets = text.split(' & ').map(wordSet);
  return ({ words: said }) => sets.every((isIn) => said.some(isIn));
}

function wordSet(text: string): (word: string) => boolean {
  const all = text.split(' ');
  const whole = new Set(all);
  const beginnings = all.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1));
  const firstLetters = new Set(beginnings.map((beginning) => beginning.slice(0, 2)));
  return (word) =>
    whole.has(word) ||
    (firstLetters.has(word.slice(0, 2)) && beginnings.some((beginning) => word.startsWith(beginning)));
}

/** A pattern for whole words, built when it is first tried. `\b` only knows ASCII letters. */
function words(alternatives: string): Pattern {
  let built: RegExp | null = null;
  return {
    test: (sentence) => {
      built ??= buildPattern(alternatives);
      return built.test(sentence);
    },
  };
}

function buildPattern(alternatives: string): RegExp {
  const short = alternatives.replaceAll('\\p{L}', `[${LETTERS}]`).replaceAll('\\p{M}', `[${MARKS}]`);
  return new RegExp(`(?<![${LETTERS}${MARKS}])(?:${short})(?![${LETTERS}${MARKS}])`, 'u');
}

/** All patterns expect lower case and straight apostrophes. */
const LATIN: readonly RuleLanguage[] = [
  // German
  {
    gate: gate(
      'der die das den dem und nicht ist sind bitte kein* ein* im in zu mit auf für immer nie niemals nur jede* alle muss müssen darf ab keine & niemals nie immer stets unbedingt fall keinesfalls ausschließlich grundsätzlich jetzt sofort heute nun künftig zukunft darf dürfen darfst soll sollen sollst muss müssen musst verboten tabu untersagt vermeide lass finger halt halte achte bevorzuge kein* braucht bekommt bitte antworte* schreib* nur',
    ),
    cue: words(
      'niemals|nie|immer|stets|unbedingt|auf keinen fall|keinesfalls|ausschließlich|grundsätzlich|ab (?:jetzt|sofort|heute|nun)|künftig|in zukunft|von nun an|(?:darf|dürfen|darfst|soll|sollen|sollst) (?:\\p{L}+ ){0,4}?(?:nicht|kein\\p{L}*|nie|nur|immer)|muss|müssen|musst|verboten|tabu|untersagt|vermeide|lass die finger|finger weg|halte? dich an|achte darauf|bevorzuge|ich (?:will|möchte|mag) kein\\p{L}*|jede[rs]? \\p{L}+ (?:braucht|bekommt)|bitte (?:\\p{L}+ ){0,2}?(?:kein\\p{L}*|nicht|nur)|keine? [^.?]*\\p{L}+(?:en|ern)|(?:antworte|schreib\\p{L}*|antworten) [^.?]*auf (?:deutsch|englisch)|nur [^.?]*(?:verwenden|benutzen|nutzen)|keine \\p{L}+(?: in| im| ohne)',
    ),
    veto: words(
      'ich (?:muss|weiß|habe|kann|verstehe)|das muss|es muss|da muss|zeig\\p{L}*|(?:klappt|funktioniert|ging|geht|passiert|stimmt) \\p{L}*\\s?(?:nie|nicht|immer)|muss wohl|noch nicht|im moment|hat|hatte|war|wurde|keine ahnung|kein problem|keine sorge|vergiss',
    ),
  },
  // French
  {
    gate: gate(
      'le la les des un une du et est ne n pas de en que tu vous il jamais toujours dans pour réponds & jamais toujours doit doivent dois devez faut ne n pas interdit* obligatoire uniquement exclusivement désormais dorénavant partir avenir évite* exception préfère veille* aucun aucune répond*',
    ),
    cue: words(
      "jamais|toujours|doi(?:t|vent|s)|devez|il faut|(?:^|s'il te plaît,? )(?:ne|n'\\p{L}+) [^.?]*pas|interdit\\p{L}*|obligatoire|uniquement|exclusivement|désormais|dorénavant|à partir de maintenant|à l'avenir|évite[rz]?|sans exception|je préfère|préfère|veille[rz]? à|en aucun cas|pas de \\p{L}+ [^.?]*(?:sans|dans|svp|merci)|aucune? [^.?]*(?:sans|dans|svp|ne doit)|réponds?(?:ez)? [^.?]*en (?:français|anglais)",
    ),
    veto: words(
      "je (?:ne|n'\\p{L}+)|j'ai|il n'a|ça (?:ne|n'a|n'\\p{L}+)|c'est|ça doit|ce doit|il doit être|pourquoi|montre-moi|pas encore|pour l'instant",
    ),
  },
  // Spanish
  {
    gate: gate(
      'el los las un una de del y es que en no para con se por siempre nunca solo sólo usa debe deben al & nunca siempre jamás debe* tiene tienes hay prohibid* obligatori* únicamente exclusivamente ahora adelante evita evite prefiero excepci* bajo nada usa solo sólo responde no',
    ),
    cue: words(
      'nunca|siempre|jamás|deben?|debes|tienes? que|hay que|prohibid\\p{L}*|obligatori\\p{L}*|únicamente|exclusivamente|a partir de ahora|de ahora en adelante|en adelante|de aquí en adelante|evita|evite|prefiero|sin excepci\\p{L}*|bajo ning\\p{L}+|nada de|usa (?:solo|sólo)|(?:solo|sólo) (?:usa|utiliza)\\p{L}*|responde [^.?]*en (?:español|inglés)|^(?:por favor,? )?no \\p{L}+(?:es|as|e|a|en|an)',
    ),
    veto: words(
      'no sé|no funcion\\p{L}*|nunca (?:funcion|pas|h)\\p{L}*|siempre (?:pas|fall|ocurr|sal)\\p{L}*|he|ha|había|debe ser un|debe haber|por qué|muéstrame|todavía no|por ahora|no (?:es|era|está|hay|va|entiendo|puedo)',
    ),
  },
  // Italian
  {
    gate: gate(
      'il lo la i gli le un una di del e è che non per con in mai sempre deve devono solo ogni & mai sempre deve devono devi bisogna non vietat* obbligatori* soltanto esclusivamente poi futuro evita* preferisco eccezioni nessun usa solo niente rispondi',
    ),
    cue: words(
      "mai|sempre|dev(?:e|ono|i)|bisogna|^non \\p{L}+(?:are|ere|ire|arli|arlo)|vietat\\p{L}*|obbligatori\\p{L}*|soltanto|esclusivamente|d'ora in poi|da ora in poi|in futuro|evita(?:re)?|preferisco|senza eccezioni|in nessun caso|usa solo|solo [^.?]*(?:usare|usa)|niente \\p{L}+ (?:in|nel|senza)|rispondi [^.?]*in (?:italiano|inglese)",
    ),
    veto: words(
      'non (?:funziona|va|so|è|era|capisco|ho|posso)|ho|ha|deve essere un|perché|fammi vedere|per ora|non ancora|è sempre',
    ),
  },
  // Portuguese
  {
    gate: gate(
      'o os as um uma de do da e é que não para com em na no nunca sempre deve devem só use faça & nunca sempre jamais deve* tem têm proibid* obrigatóri* somente apenas exclusivamente agora frente diante evite prefiro exceç* jeito hipótese não responda',
    ),
    cue: words(
      'nunca|sempre|jamais|dev(?:e|em|es)|tem que|têm que|proibid\\p{L}*|obrigatóri\\p{L}*|somente|apenas|exclusivamente|a partir de agora|daqui (?:para|em) (?:a )?(?:frente|diante)|de agora em diante|evite|prefiro|sem exceç\\p{L}*|de jeito nenhum|em hipótese alguma|^(?:por favor,? )?não \\p{L}+(?:e|a|em|am|es|as)|responda [^.?]*em (?:português|inglês)',
    ),
    veto: words(
      'não (?:sei|funciona|é|era|está|consigo|entendi|há)|nunca (?:funcion|vi)\\p{L}*|sempre (?:falh|d)\\p{L}*|deve ser um|deve haver|por que|por quê|me mostre|por enquanto|ainda não|apenas (?:mostr|um|uma|dois|duas)\\p{L}*',
    ),
  },
  // Dutch
  {
    gate: gate(
      'de het een en is zijn niet geen van in op voor met te nooit altijd alleen moet moeten gebruik alle elke & nooit altijd moet moeten mag mogen uitsluitend nu voortaan vervolg vermijd verboden geval beding liever geen zorg elk elke blijf alleen antwoord',
    ),
    cue: words(
      'nooit|altijd|moet|moeten|(?:mag|mogen|mag je|moet je) (?:\\p{L}+ ){0,3}?(?:niet|geen|nooit|alleen)|uitsluitend|vanaf nu|voortaan|in het vervolg|vermijd|verboden|in geen geval|onder geen beding|liever|ik wil geen|geen [^.?]*(?:gebruiken|toevoegen|alsjeblieft|svp)|zorg (?:er(?:voor)? )?dat|elke? \\p{L}+ (?:krijgt|heeft)|blijf (?:van|uit)|alleen [^.?]*gebruiken|gebruik alleen|antwoord [^.?]*in het',
    ),
    veto: words(
      'werkt|ik (?:moet|weet|heb|kan)|dat moet|het moet (?:een|wel)|waarom|laat [^.?]*zien|nog niet|voorlopig|was|had|geen idee|geen probleem',
    ),
  },
  // Swedish, Danish, Norwegian
  {
    gate: gate(
      'och og att at en et ett är er inte ikke på med för for i den det aldrig aldri alltid altid alla alle inga ingen använd brug bruk skal ska måste & aldrig aldri alltid altid måste får må skal ska endast kun enbart nu nå hädanefter fremover framöver undvik undgå unngå förbjud* forbud* omständigheter inga ingen helst foretrækker foretrekker föredrar',
    ),
    cue: words(
      'aldrig|aldri|alltid|altid|måste|får (?:inte|ikke|ej)|må (?:ikke|aldrig|aldri)|skal|ska|endast|kun|enbart|från och med nu|hädanefter|fra nu av|fra nå av|fremover|framöver|undvik|undgå|unngå|förbjud\\p{L}*|forbud\\p{L}*|under inga omständigheter|inga [^.?]*(?:tack|utan|i)|ingen [^.?]*(?:takk|tak|uden|uten|i)|helst|foretrækker|foretrekker|föredrar',
    ),
    veto: words(
      'varför|hvorfor|fungera[rd]\\p{L}*|virker|vet|ved|jag|jeg|det (?:är|er|måste|skal)|har|hade|havde|visa|vis mig|ikke endnu|inte än',
    ),
  },
  // Finnish
  {
    gate: gate(
      'älä älkää aina ei eivät täytyy pitää on ainoastaan jatkossa tästä vältä kielletty mieluummin missään vain käytä',
    ),
    cue: words(
      'älä|älkää|aina|ei koskaan|ei saa|eivät saa|täytyy|pitää|on pakko|ainoastaan|jatkossa|tästä lähtien|vältä|kielletty|mieluummin|missään tapauksessa|vain [^.?]*(?:käytä|käyttää)|käytä vain',
    ),
    veto: words('miksi|toimi|toimii|tiedä|en|minä|on aina|näytä|vielä|älä (?:unohda|huoli)'),
  },
  // Polish
  {
    gate: gate(
      'nigdy zawsze nie musi muszą musisz należy wyłącznie od odtąd w unikaj* zabroni* zakaz* wolę preferuj* bez pod tylko używaj proszę odpowiadaj',
    ),
    cue: words(
      'nigdy|zawsze|nie wolno|musi|muszą|musisz|należy|wyłącznie|od teraz|odtąd|w przyszłości|unikaj\\p{L}*|zabroni\\p{L}*|zakaz\\p{L}*|wolę|preferuj\\p{L}*|bez wyjątk\\p{L}*|pod żadnym pozorem|tylko [^.?]*(?:używaj|używać|po)|używaj tylko|(?:proszę )?nie (?:\\p{L}+(?:aj|uj|ij|yj|ź|ób|mień|rusz|dodawaj|dotykaj)(?:cie)?)|odpowiadaj [^.?]*po',
    ),
    veto: words(
      'dlaczego|czemu|nie (?:działa|wiem|rozumiem|mogę)|nigdy nie (?:dział|by|wid)\\p{L}*|to musi być|pokaż|jeszcze nie|na razie|ja|mam|było|był|była',
    ),
  },
  // Czech and Slovak
  {
    gate: gate(
      'nikdy vždy vždi vždycky musí musíš musia nesmí nesmíš nesmie pouze výhradně jedině odteď od v vyhýbej* vyhni zakáz* zákaz* preferuj* bez ne* odpovídej',
    ),
    cue: words(
      'nikdy|vždy|vždycky|vžd[yi]|musí|musíš|musia|nesmí|nesmíš|nesmie|pouze|výhradně|jedině|odteď|od teď|od této chvíle|v budoucnu|vyhýbej\\p{L}*|vyhni|zakáz\\p{L}*|zákaz\\p{L}*|preferuj\\p{L}*|v žádném případě|bez výjimky|^(?:prosím,? )?ne\\p{L}+(?:ej|uj|i|te|ň)|odpovídej',
    ),
    veto: words(
      'proč|nefunguje|nevím|nemůžu|to musí být|ukaž|zatím|ještě|jsem|byl[oa]?|nikdy ne(?:fungoval|bylo)\\p{L}*',
    ),
  },
  // Turkish, whose endings would make the cue slow on every other language
  {
    gate: ({ text }) =>
      /asla|zaman|daima|mutlaka|sakın|yalnızca|sadece|bundan|artık|yasak|mal[ıi]|meli|kaçın|tercih|hiçbir|mayın|meyin|lütfen/u.test(
        text,
      ),
    cue: words(
      'asla|her zaman|daima|mutlaka|sakın|yalnızca|sadece [^.?]*kullan\\p{L}*|bundan (?:sonra|böyle)|artık [^.?]*(?:yaz|kullan|cevap)\\p{L}*|yasak\\p{L}*|\\p{L}+(?:malı|meli)(?:dır|dir|sın|sin)?|kaçın\\p{L}*|tercih ed\\p{L}*|hiçbir (?:koşulda|zaman)|\\p{L}{3,}(?:mayın|meyin)(?:ız|iz)?|lütfen [^.?]*(?:ma|me)',
    ),
    veto: words(
      'neden|niye|çalışm\\p{L}*|bilmiyorum|her zaman (?:hata|aynı)|olmalı|göster\\p{L}*|henüz|şimdilik|\\p{L}+ (?:mı|mi|mu|mü)',
    ),
  },
  // Indonesian and Malay
  {
    gate: gate('jangan selalu harus wajib hanya gunakan dilarang mulai tidak hindari pastikan lebih tanpa ke dalam'),
    cue: words(
      'jangan(?: pernah)?|selalu|harus|wajib|hanya [^.?]*(?:gunakan|pakai|boleh)|gunakan hanya|dilarang|mulai sekarang|tidak boleh|hindari|pastikan|lebih suka|tanpa kecuali|ke depannya|dalam keadaan apa pun',
    ),
    veto: words(
      'kenapa|mengapa|jangan (?:khawatir|lupa|dulu)|saya (?:harus|tidak)|selalu (?:gagal|error)|tunjukkan|pasti|sudah|belum',
    ),
  },
  // Vietnamese
  {
    gate: gate('không đừng luôn phải bắt tuyệt từ kể cấm tránh ưu chỉ nghiêm'),
    cue: words(
      'không được|đừng|luôn|luôn luôn|phải|bắt buộc|tuyệt đối|từ (?:bây giờ|giờ|nay)|kể từ (?:bây giờ|nay)|cấm|tránh|ưu tiên|không bao giờ|chỉ (?:được|dùng|sử dụng)|nghiêm cấm',
    ),
    veto: words('tại sao|vì sao|sao|đừng (?:lo|quên)|tôi|luôn (?:bị|lỗi)|không được rồi|phải không|hãy cho'),
  },
];

const CYRILLIC: readonly RuleLanguage[] = [
  // Russian
  {
    cue: words(
      'никогда|всегда|нельзя|долж\\p{L}+|обязательно|обязан\\p{L}*|запрещ\\p{L}+|отныне|впредь|с этого момента|в дальнейшем|предпочита\\p{L}+|избегай\\p{L}*|исключительно|без исключений|ни в коем случае|(?:пожалуйста,? )?не \\p{L}+(?:й|йте|ь|ьте|и|ите)|только [^.?]*(?:использу|на|по|через|в)\\p{L}*|(?:используй|отвечай|пиши)\\p{L}* (?:только|всегда)|не более|не больше|надо всегда|лучше не',
    ),
    veto: words(
      'почему|зачем|я|мне|это|он|она|оно|никогда не (?:работал|был|видел|слышал)\\p{L}*|не (?:знаю|понимаю|работает|могу|вижу|нужно|надо|забудь|волнуйся|переживай)|покажи|пока|должно быть|было?|была',
    ),
  },
  // Ukrainian
  {
    cue: words(
      "ніколи|завжди|не можна|повин\\p{L}+|обов'язково|заборон\\p{L}+|відтепер|надалі|уникай\\p{L}*|має бути|мають бути|виключно|без винятків|у жодному разі|не \\p{L}+(?:й|йте|ь|ьте|и|іть)|лише|тільки [^.?]*(?:використову|через|на)\\p{L}*",
    ),
    veto: words(
      'чому|навіщо|я|мені|це|він|вона|не (?:знаю|розумію|працює|можу|бачу)|ніколи не (?:працював|було|бачив)\\p{L}*|покажи|поки|було|була',
    ),
  },
];

const ARABIC: readonly RuleLanguage[] = [
  {
    cue: words(
      'لا ت\\p{L}+|دائم\\p{L}*|دائمًا|أبد\\p{L}*|أبدًا|يجب|لا يجوز|ممنوع|يمنع|فقط|من الآن (?:فصاعد\\p{M}*\\p{L}*\\p{M}*)|تجنب|أفضل|يفضل|احرص|إياك|يُمنع|مستقبل\\p{L}*',
    ),
    veto: words('لماذا|لا أعرف|لا أعلم|لا (?:ت|ي)عمل|أرني|اعرض|هل|لا تقلق|لا تنس'),
  },
];

const HINDI: readonly RuleLanguage[] = [
  {
    cue: words('कभी|मत|हमेशा|ज़रूर|जरूर|अनिवार्य|केवल|सिर्फ|सिर्फ़|चाहिए|अब से|आगे से|से बचें|न करें|ना करें|नहीं करना|हर बार|प्रत्येक'),
    veto: words('क्यों|क्या|मुझे|मैं|था|थी|थे|है|दिखाओ|अभी नहीं'),
  },
];

const WIDE = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/;

/** Languages without spaces between words, or whose words take endings. */
const UNSPACED: readonly RuleLanguage[] = [
  // Chinese
  {
    cue: /必须|必須|务必|務必|不要|不得|不许|不許|不准|不可以|不可|绝不|絕不|绝对不|絕對不|永远|永遠|总是|總是|一定要|禁止|严禁|嚴禁|切勿|请勿|請勿|^[请請]?[别別]|[，,。；你][别別][^的人]|只能|只用|只使用|只允许|只允許|仅限|僅限|始终|始終|一律|统一|統一|避免|尽量|儘量|优先|優先|从现在起|從現在起|从今以后|今后|今後|以后[都请用要]|以後[都請用要]|以后.*[都要]|每[个次個一].*[都要需]|所有.*(?:都|必|使用|要)|保持|不允许|不允許|不能(?:改|用|动|動|超过|超過|修改|删除|刪除|提交|依赖|依賴|引入|有|少于|直接)|[用以](?:中文|英文|日文)(?:回答|回复|回覆)/u,
    veto: /[吗嗎呢]|为什么|為什麼|怎么|怎麼|总是(?:失败|报错|出错)|總是(?:失敗|報錯)|应该是|應該是|不要紧|不要緊|不要了|只(?:看|给|显示|显示)|先不要|暂时|暫時|报错|的问题/u,
  },
  // Japanese
  {
    cue: /必ず|絶対|常に|いつも.*(?:ください|こと)|決して|しないで|ないでください|ないように|てはいけ|てはなら|なければなら|なくてはなら|禁止|のみ|だけ.*(?:使|して|にし)|今後|以降|これから|毎回|避けて|べき|こと。?$|(?:日本語|英語)で(?:答|回答|返|書)|以内|以下に|ままに?(?:し|に)|触らない|変えない|優先/u,
    veto: /なぜ|どうして|ですか|ますか|でしょうか|見せて|教えて|かもしれ|ことがあ|とりあえず|まだ|ました/u,
  },
  // Korean
  {
    cue: /반드시|절대|항상|언제나|꼭|지 ?마(?:세요|라|요|십시오)?|하지 말|금지|만 사용|앞으로|이제부터|지금부터|피해 ?(?:주|라)|해야 ?(?:한다|합니다|해요|함)|(?:안|않아야) ?(?:된다|됩니다|돼요|되고|합니다)|매번|이내로|이하로|마다|예외 없이|선호|(?:한국어|영어)로/u,
    veto: /왜|[까나]요\?|보여 ?주|걱정|아직|일단|항상 (?:실패|에러|오류)|했어요|었어요|았어요/u,
  },
  // Thai
  {
    cue: /ห้าม|อย่า|ต้อง|เสมอ|ทุกครั้ง|เท่านั้น|ตั้งแต่นี้|ต่อไปนี้|จากนี้ไป|หลีกเลี่ยง|ควร|เด็ดขาด/u,
    veto: /ทำไม|ไหม|หรือเปล่า|ฉัน|ผม|อย่าลืม|อย่ากังวล|แสดง|ยังไม่/u,
  },
];

const SCRIPTS: readonly Script[] = [
  { letter: /[a-zß-öø-ɏḀ-ỿ]/, languages: LATIN },
  { letter: /[Ѐ-ԯ]/, languages: CYRILLIC },
  { letter: /[ء-ي]/, languages: ARABIC },
  { letter: /[ऄ-ॡ]/, languages: HINDI },
];

const NOT_ASCII = /[^ -~]/;
const ASKS = /[?？؟]["'”’)\]）」]*$/u;

/** Whether a sentence in lower case states a standing rule in a language other than English. */
export function isRuleInOtherLanguage(sentence: string): boolean {
  if (ASKS.test(sentence)) return false;
  const isAscii = !NOT_ASCII.test(sentence);
  const unspaced = { text: sentence, words: [] };
  if (!isAscii && WIDE.test(sentence) && UNSPACED.some((language) => states(language, unspaced))) return true;
  const text = isAscii ? sentence : sentence.replace(OTHER_LETTERS(), 'µ').replace(OTHER_MARKS(), '\u0300');
  const read = { text, words: text.match(WORD) ?? [] };
  return SCRIPTS.some(({ letter, languages }) => letter.test(text) && languages.some((one) => states(one, read)));
}

function states(language: RuleLanguage, sentence: Sentence): boolean {
  const { cue, veto } = language;
  return language.gate?.(sentence) !== false && cue.test(sentence.text) && veto?.test(sentence.text) !== true;
}
