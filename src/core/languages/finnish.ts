import type { Language } from './language.ts';

export const FINNISH: Language = {
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
};
