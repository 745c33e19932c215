import type { Language } from './language.ts';

export const POLISH: Language = {
  code: 'pl',
  script: 'latin',
  words:
    'i oraz a ale lub albo nie jest są był była było w we na do z ze od po o u przy przez dla bez pod nad za jak co kto gdzie kiedy dlaczego czy że żeby to ten ta te tego tej tym tych się mnie mi ja ty on ona my wy mój moja twój już jeszcze tylko też także teraz zawsze nigdy bardzo wszystkie wszystko każdy każda każde proszę można trzeba musi muszą używaj przed ma maksymalnie najwyżej bo więc',
  standing: 'od teraz|odtąd|od tej pory|od dziś|od dzisiaj|w przyszłości|na przyszłość|bez wyjątk\\p{L}*|do odwołania',
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
};
