import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMessages } from '../../../src/core/extract/passage.ts';
import { selectUnits } from '../../../src/core/extract/select-units.ts';
import { createTermIndex } from '../../../src/core/extract/terms.ts';
import { messages } from '../../support/messages.ts';

const stem = (word: string): string => word.replace(/(?:ing|ed|s)$/, '');

/** A greeting and a question, a fact, the fact once more in other order, another fact. */
const TALKS: Readonly<Record<string, readonly [string, string, string, string]>> = {
  german: [
    'Na du! Wie geht es dir denn heute?',
    'Der Schlüssel zum Bootshaus hängt hinter der Regentonne.',
    'Hinter der Regentonne hängt der Schlüssel zum Bootshaus.',
    'Am Donnerstag liefert Krause das Brennholz.',
  ],
  russian: [
    'Привет! Как у тебя дела сегодня?',
    'Ключ от лодочного сарая висит за бочкой.',
    'За бочкой висит ключ от лодочного сарая.',
    'В четверг Марков привезёт дрова для печи.',
  ],
  arabic: [
    'مرحبا! كيف حالك اليوم؟',
    'مفتاح بيت القوارب معلق خلف برميل المطر.',
    'خلف برميل المطر معلق مفتاح بيت القوارب.',
    'يوم الخميس يحضر كريم حطب المدفأة.',
  ],
  hindi: [
    'नमस्ते! आज आप कैसे हैं?',
    'नावघर की चाबी बारिश के पीपे के पीछे टँगी है।',
    'बारिश के पीपे के पीछे नावघर की चाबी टँगी है।',
    'गुरुवार को करीम चूल्हे की लकड़ी लाएगा।',
  ],
  korean: [
    '안녕하세요! 오늘 기분이 어때요?',
    '보트 창고 열쇠는 빗물통 뒤에 걸려 있습니다.',
    '빗물통 뒤에 보트 창고 열쇠는 걸려 있습니다.',
    '목요일에 민수가 난로용 장작을 가져옵니다.',
  ],
  chinese: [
    '你好！今天过得怎么样？',
    '船屋的钥匙挂在雨水桶后面。',
    '雨水桶后面挂着船屋的钥匙。',
    '星期四老王送壁炉的木柴来。',
  ],
  japanese: [
    'こんにちは！今日の調子はどうですか？',
    '舟小屋の鍵は雨樽の裏に掛けてあります。',
    '雨樽の裏に舟小屋の鍵は掛けてあります。',
    '木曜日に田中さんが薪を届けます。',
  ],
  thai: ['สวัสดี! วันนี้เป็นอย่างไรบ้าง?', 'กุญแจโรงเรือแขวนอยู่หลังถังน้ำฝน', 'หลังถังน้ำฝนกุญแจโรงเรือแขวนอยู่', 'วันพฤหัสสมชายจะเอาฟืนมาส่ง'],
};

for (const [language, [greeting, fact, repeat, other]] of Object.entries(TALKS)) {
  test(`of a talk in ${language} each fact is kept once, before greetings and questions`, () => {
    const said = messages(
      { content: greeting },
      { role: 'assistant', content: fact },
      { content: repeat },
      { role: 'assistant', content: other },
    );
    const budgetChars = fact.length + other.length + 25;
    const kept = selectUnits(readMessages(said), { budgetChars, stem }).map(({ text }) => text);
    const isEither = kept.includes(fact) !== kept.includes(repeat);
    assert.deepEqual([isEither, kept.includes(other)], [true, true]);
  });
}

/** A sentence that says when, and one that does not. */
const TIMES: Readonly<Record<string, readonly [string, string]>> = {
  german: ['Gestern fiel der Ofen aus.', 'Der Ofen fiel aus.'],
  french: ['Le poêle est tombé en panne mardi.', 'Le poêle est tombé en panne.'],
  spanish: ['La estufa se rompió ayer.', 'La estufa se rompió.'],
  italian: ['La stufa si è rotta ieri.', 'La stufa si è rotta.'],
  portuguese: ['O fogão quebrou ontem.', 'O fogão quebrou.'],
  polish: ['Wczoraj zepsuł się piec.', 'Zepsuł się piec.'],
  russian: ['Печь сломалась вчера.', 'Печь сломалась.'],
  turkish: ['Soba dün bozuldu.', 'Soba bozuldu.'],
  arabic: ['تعطل الموقد أمس.', 'تعطل الموقد.'],
  hindi: ['चूल्हा सोमवार को टूटा।', 'चूल्हा टूटा।'],
  korean: ['난로가 어제 고장 났어요.', '난로가 고장 났어요.'],
  chinese: ['炉子去年坏了。', '炉子坏了。'],
  japanese: ['ストーブは昨日壊れました。', 'ストーブは壊れました。'],
  thai: ['เตาเสียวันพฤหัสบดี', 'เตาเสีย'],
};

test('a sentence that says when is known as one in other languages too', () => {
  const saysWhen = (sentence: string): boolean => {
    const index = createTermIndex({ stem, isEnglish: false, speakers: [] });
    return index.add(sentence, { start: 0, end: sentence.length }, { speakerKind: 'user', messageIndex: 0 })
      .mentionsTime;
  };
  assert.deepEqual(
    Object.entries(TIMES).filter(([, [timed, timeless]]) => !saysWhen(timed) || saysWhen(timeless)),
    [],
  );
});

test('where the text is English the words of other languages are none of time', () => {
  const index = createTermIndex({ stem, isEnglish: true, speakers: [] });
  const sentence = 'Gestern is the name of the lake';
  const { mentionsTime } = index.add(
    sentence,
    { start: 0, end: sentence.length },
    { speakerKind: 'user', messageIndex: 0 },
  );
  assert.equal(mentionsTime, false);
});
