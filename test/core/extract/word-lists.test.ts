import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEnglishText } from '../../../src/core/extract/word-lists.ts';

const SAMPLES = {
  english:
    'The lock of the old mill was repaired, and the key is with the neighbor. It was not cheap. What would you have done with that money? We are going to paint the door from the inside next week.',
  danish:
    'Låsen til den gamle mølle er lavet, og naboen har nøglen. Det var ikke billigt for os at have den stående så længe. Hvad ville du bruge pengene på? Vi maler døren indefra i næste uge og køber nye vinduer til køkkenet bagefter.',
  german:
    'Das Schloss der alten Mühle wurde repariert, und den Schlüssel hat die Nachbarin. Billig war es nicht. Was hättest du mit dem Geld gemacht? Wir streichen die Tür nächste Woche von innen und kaufen danach neue Fenster.',
  indonesian:
    'Kunci kincir tua sudah diperbaiki dan anak kuncinya ada pada tetangga. Harganya tidak murah. Apa yang akan kamu lakukan dengan uang itu? Kami akan mengecat pintu dari dalam minggu depan lalu membeli jendela baru untuk dapur.',
  japanese:
    '古い水車小屋の錠前を直しました。鍵は隣の人が持っています。安くはありませんでした。来週は扉を内側から塗ります。',
  thai: 'ซ่อมกุญแจโรงสีเก่าแล้ว เพื่อนบ้านเก็บลูกกุญแจไว้ ราคาไม่ถูกเลย สัปดาห์หน้าเราจะทาสีประตูจากด้านใน',
  empty: '',
  oneWord: 'quokka',
  oneForeignWord: 'Mühle',
};

test('a text is English by its smallest words, and too little of one by its letters', () => {
  assert.deepEqual(
    Object.entries(SAMPLES).flatMap(([name, sample]) => (isEnglishText(sample) ? [name] : [])),
    ['english', 'empty', 'oneWord'],
  );
});

test('capitals, punctuation and emoji make no difference', () => {
  const marked = SAMPLES.english.toUpperCase().replaceAll(' ', ' — 🦊 ');
  assert.equal(isEnglishText(marked), true);
});
