import { CHARACTER, classOf } from './character.ts';

/** English function words, which carry no facts. Contractions are listed up to the apostrophe. */
export const FUNCTION_WORDS =
  wordSet(`a about above after again against all also am an and any are aren as at be because been
before being below between both but by can cannot could couldn d did didn do does doesn doing don down during each few for from
further had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m
ma me might more most must mustn my myself needn no nor not now o of off on once only or other our ours ourselves out over own re s
same shan she should shouldn so some such t than that the their theirs them themselves then there these they this those through to
too under until up us ve very was wasn we were weren what when where which while who whom whose why will with won would wouldn y yet
you your yours yourself yourselves`);

/** Words that keep a conversation going but say little: greetings, assent, praise, hedges, light verbs. */
export const FILLERS =
  wordSet(`hey hi hello thanks thank thx wow yeah yep yup yes nope oh ooh ah aw haha lol hmm um uh ok okay sure
cool great awesome amazing nice good really totally definitely absolutely actually basically literally glad happy sounds sound
please bye welcome congrats congratulations wonderful fantastic incredible perfect gonna wanna gotta kinda sorta lot lots well like
maybe think mean guess let lets got get gets getting go goes going gone went thing things something anything everything stuff way
much many super exactly right agree true hope wait look looks looking bit pretty quite sorry always even still ever able back
know see say says said tell told make makes made making take takes took come comes came want wants wanted need needs feel feels felt
feeling put talk`);

/** Words that say when something happened. */
export const TIME_WORDS =
  wordSet(`today yesterday tomorrow tonight morning afternoon evening night noon midnight weekend week weeks
month months year years day days hour hours minute minutes ago last next recently soon monday tuesday wednesday thursday friday
saturday sunday january february march april june july august september october november december spring summer autumn winter
birthday anniversary christmas easter since`);

/** Words that refer to the speaker or to third parties, not to the listener. */
export const SELF_WORDS = wordSet('i me my mine myself we us our ours ourselves he she they him his her their');

/** Words that address the listener. */
export const ADDRESS_WORDS = wordSet('you your yours yourself yourselves');

/** Words for what belongs to the speaker. */
export const OWN_WORDS = wordSet('my our');

/** First-person subjects of a narrative. */
export const NARRATOR_WORDS = wordSet('i we');

/** Adverbs that may stand between such a subject and its verb. */
export const NARRATOR_ADVERBS = wordSet('just also even finally recently once already never then');

/** Past forms that do not end in -ed. */
export const PAST_WORDS =
  wordSet(`was were had did went got made took saw found bought met won lost left came began wrote read ate gave ran
flew felt thought told heard built sold spent grew taught chose drove fell forgot held kept knew led paid put sang sent set slept spoke
swam threw wore brought caught broke`);

/** Numbers and other words for how many or how often. */
export const COUNT_WORDS = wordSet(`two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty
hundred thousand million once twice first second third dozen couple half`);

/** Words that introduce a name. */
export const NAMING_WORDS = wordSet('called named titled nicknamed');

/** Words in lines that report a failure. */
export const FAILURE_WORDS =
  wordSet(`error errors fail fails failed failing failure failures exception panic fatal traceback denied
refused aborted crashed undefined unresolved invalid`);

// Frequent in every English text, and in no other widely written language of this alphabet.
const ENGLISH_MARKS = wordSet('the and that with this for are you have it from not what');
const MAX_MARK_CHARS = 4;
const ENGLISH_MARK_SHARE = 0.06;
const MIN_WORDS_TO_TELL = 30;
const LETTER = CHARACTER.lower | CHARACTER.upper;

/** Whether a sample of prose is English. A sample that is too short counts as English if it has only Latin letters or an English word. */
export function isEnglishText(sample: string): boolean {
  let words = 0;
  let marks = 0;
  let isPlain = true;
  let length = 0;
  for (let i = 0; i <= sample.length; i += 1) {
    const code = i < sample.length ? sample.charCodeAt(i) : 0;
    if ((classOf(code) & LETTER) !== 0) {
      length += 1;
      isPlain &&= code < 128;
    } else if (length > 0) {
      words += 1;
      if (length <= MAX_MARK_CHARS && ENGLISH_MARKS.has(sample.slice(i - length, i).toLowerCase())) marks += 1;
      length = 0;
    }
  }
  if (words < MIN_WORDS_TO_TELL) return marks > 0 || isPlain;
  return marks >= words * ENGLISH_MARK_SHARE;
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}

/**
 * Words of time in languages without a list of function words here: days, months, and how long ago. In lower case, split as the scanner
 * splits them (by dictionary in scripts without spaces). Words that mean something else in a widely written language are left out, such as
 * French "hier", which is also German.
 */
export const OTHER_TIME_WORDS: ReadonlySet<string> = new Set(
  `heute gestern vorgestern morgen übermorgen abend abends nachts mittag wochenende woche wochen monat monate monaten jahr jahre jahren tag tage tagen stunde
stunden minuten kürzlich neulich letzte letzten letztes nächste nächsten nächstes bald montag dienstag mittwoch donnerstag freitag samstag sonntag
januar februar märz april mai juni juli august september oktober november dezember frühling sommer herbst winter geburtstag weihnachten ostern
aujourd'hui aujourd demain matin soir midi semaine semaines mois année années ans jour jours heure heures récemment dernier dernière prochain prochaine
bientôt lundi mardi mercredi jeudi vendredi samedi dimanche janvier février avril juin juillet août septembre octobre novembre décembre
printemps été automne hiver anniversaire noël pâques
hoy ayer anteayer mañana noche tarde semana semanas mes meses año años día días hora horas recientemente pasado pasada próximo próxima pronto lunes martes
miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre primavera
verano otoño invierno cumpleaños navidad
oggi ieri domani mattina stasera notte settimana settimane mese mesi anno anni giorno giorni ora ore recentemente scorso scorsa prossimo prossima presto lunedì
martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre estate autunno
inverno compleanno natale pasqua
hoje ontem amanhã manhã noite ano anos dia dias mês passada próxima segunda terça quarta quinta sexta janeiro fevereiro março maio junho julho
setembro outubro novembro dezembro verão outono aniversário
vandaag gisteren ochtend avond nacht weekend week weken maand maanden jaar jaren dag dagen uur geleden vorige volgende maandag dinsdag woensdag donderdag
vrijdag zaterdag zondag januari februari maart mei augustus lente zomer herfst verjaardag
idag igår imorgon morgon kväll natt helgen vecka veckor månad månader år dagar timmar förra nästa måndag tisdag onsdag torsdag fredag lördag
søndag mandag tirsdag lørdag gårsdagens uge uger måned måneder dage timer sidste næste tänään eilen huomenna viikko viikon kuukausi vuosi
dziś dzisiaj wczoraj jutro rano wieczorem tydzień tygodnia tygodniu miesiąc miesiące rok roku lata lat dzień dni godziny temu ostatnio poniedziałek wtorek
środę środa czwartek piątek sobotę niedzielę stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
dnes včera zítra týden týdnu měsíc měsíce dny hodiny minulý příští pondělí úterý středu čtvrtek pátek neděli
bugün dün yarın sabah akşam gece hafta haftaya ay yıl yıllar gün saat önce geçen gelecek pazartesi salı çarşamba perşembe cuma cumartesi pazar
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
kemarin besok pagi siang sore malam minggu bulan tahun hari jam lalu depan senin selasa rabu kamis jumat sabtu januari februari maret
hôm tuần tháng ngày
сегодня вчера позавчера завтра утром утро вечером вечер ночью неделя неделю неделе недели месяц месяца месяце месяцев год года году лет день дня дней час часа
часов назад недавно прошлый прошлой прошлом следующий следующей следующем скоро понедельник вторник среду среда четверг пятницу пятница субботу
суббота воскресенье января февраля марта апреля мая июня июля августа сентября октября ноября декабря весной летом осенью зимой
сьогодні вчора завтра тиждень тижня тижні місяць рік року років день днів тому понеділок вівторок середу четвер п'ятницю неділю січня лютого
березня квітня травня червня липня серпня вересня жовтня листопада грудня
اليوم أمس غدا غدًا صباح صباحا مساء مساءً ليلة أسبوع الأسبوع شهر الشهر سنة السنة عام العام يوم أيام ساعة ساعات قبل الماضي الماضية القادم القادمة السبت الأحد
الاثنين الثلاثاء الأربعاء الخميس الجمعة يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
आज कल परसों सुबह शाम रात हफ्ते सप्ताह महीने महीना साल दिन घंटे पहले पिछले अगले सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार जनवरी फरवरी मार्च अप्रैल
मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर
오늘 어제 그저께 내일 모레 아침 아침에 저녁 저녁에 밤에 주말 주말에 지난주 지난주에 다음주 다음주에 지난달 지난달에 다음달 작년 작년에 올해 내년 내년에 요즘 최근 최근에 월요일 화요일
수요일 목요일 금요일 토요일 일요일 월요일에 화요일에 수요일에 목요일에 금요일에 토요일에 일요일에
今天 昨天 前天 明天 后天 後天 早上 上午 中午 下午 晚上 周末 週末 上周 下周 本周 这周 上个月 下个月 上月 下月 去年 今年 明年 前年 最近 星期一 星期二 星期三 星期四 星期五 星期六
星期日 星期天 周一 周二 周三 周四 周五 周六 周日 一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月 生日 春天 夏天 秋天 冬天
今日 昨日 一昨日 明日 明後日 今朝 今夜 昨夜 朝 夕方 夜 先週 今週 来週 先月 今月 来月 来年 月曜 火曜 水曜 木曜 金曜 土曜 日曜 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日
誕生日 春 夏 秋 冬 年 月 日 週間
วันนี้ เมื่อวาน เมื่อวานนี้ พรุ่งนี้ เช้า เย็น คืน สัปดาห์ เดือน ปี วัน ชั่วโมง ก่อน หน้า ที่แล้ว จันทร์ อังคาร พุธ พฤหัสบดี พฤหัส ศุกร์ เสาร์ อาทิตย์ มกราคม กุมภาพันธ์
มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม`.split(/\s+/),
);
