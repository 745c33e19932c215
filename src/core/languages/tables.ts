import { ARABIC } from './arabic.ts';
import { BENGALI } from './bengali.ts';
import { CHINESE } from './chinese.ts';
import { CZECH } from './czech.ts';
import { DUTCH } from './dutch.ts';
import { FINNISH } from './finnish.ts';
import { FRENCH } from './french.ts';
import { GERMAN } from './german.ts';
import { GREEK } from './greek.ts';
import { HEBREW } from './hebrew.ts';
import { HINDI } from './hindi.ts';
import { HUNGARIAN } from './hungarian.ts';
import { INDONESIAN } from './indonesian.ts';
import { ITALIAN } from './italian.ts';
import { JAPANESE } from './japanese.ts';
import { KOREAN } from './korean.ts';
import type { Language } from './language.ts';
import { PERSIAN } from './persian.ts';
import { POLISH } from './polish.ts';
import { PORTUGUESE } from './portuguese.ts';
import { ROMANIAN } from './romanian.ts';
import { RUSSIAN } from './russian.ts';
import { SCANDINAVIAN } from './scandinavian.ts';
import { SPANISH } from './spanish.ts';
import { THAI } from './thai.ts';
import { TURKISH } from './turkish.ts';
import { UKRAINIAN } from './ukrainian.ts';
import { VIETNAMESE } from './vietnamese.ts';

/** All but English, which has files of its own. */
export const LANGUAGES: readonly Language[] = [
  GERMAN,
  FRENCH,
  SPANISH,
  PORTUGUESE,
  ITALIAN,
  DUTCH,
  SCANDINAVIAN,
  FINNISH,
  POLISH,
  CZECH,
  ROMANIAN,
  HUNGARIAN,
  TURKISH,
  INDONESIAN,
  VIETNAMESE,
  RUSSIAN,
  UKRAINIAN,
  GREEK,
  ARABIC,
  PERSIAN,
  HEBREW,
  HINDI,
  BENGALI,
  CHINESE,
  JAPANESE,
  KOREAN,
  THAI,
];
