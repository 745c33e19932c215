import type { Language } from './language.ts';

export const TURKISH: Language = {
  code: 'tr',
  script: 'latin',
  words:
    've veya ya da de ki bir bu şu o bunu onu bana sana beni seni benim senin için ile gibi kadar daha çok az en ne neden niye nasıl nerede kim mi mı mu mü ama fakat ancak çünkü değil var yok her hiç hep tüm bütün hepsi ben sen biz siz önce sonra şimdi artık lütfen asla zaman yalnızca sadece iki üç olarak ise bile göre böyle şöyle yerine üzere istiyorum istemiyorum kullan yaz yap yapma ol olsun olacak olmalı gerek lazım hangi',
  standing:
    'bundan (?:sonra|böyle)|şu andan itibaren|artık hep|artık her zaman|bu andan sonra|istisnasız|aksini söyleyene kadar',
  cues: 'asla|her zaman|daima|mutlaka|kesinlikle|sakın|yalnızca|sadece [^.?]*(?:kullan|ile|için)\\p{L}*|artık [^.?]*(?:yaz|kullan|cevap|yanıt)\\p{L}*|bir daha|yasak\\p{L}*|zorunlu\\p{L}*|\\p{L}+(?:malı|meli)(?:dır|dir|sın|sin|yız|yiz)?|kaçın\\p{L}*|tercih ed\\p{L}*|hiçbir (?:koşulda|zaman|şekilde|durumda)|\\p{L}{3,}(?:mayın|meyin)(?:ız|iz)?|lütfen [^.?]*(?:ma|me)|\\p{L}{2,}(?:ma|me)(?=$|[,;.!])|\\p{L}+(?:mak|mek) yok|(?:bana )?sormadan|haber vermeden|onay almadan|izin almadan|istemiyorum|gerek yok|en fazla|en çok \\d+|en az|\\p{L}+den önce|\\p{L}+dan önce|her \\p{L}+(?:ten|tan|den|dan) (?:önce|sonra)|olduğu gibi|aynen kal\\p{L}*|her yerde (?:\\p{L}+ )*?(?:yerine|kullan)\\p{L}*|yerine (?:\\p{L}+ )*?kullan\\p{L}*|dokunma\\p{L}*|elleme\\p{L}*',
  vetoes:
    'neden|niye|niçin|çalışmı\\p{L}*|bilmi\\p{L}*|her zaman (?:hata|aynı)|hata olmalı|(?:sorun|hata)[^.?]* olmalı|(?:daha|şimdi) \\p{L}+ olmalı|göster\\p{L}*|henüz|şimdilik|bu sefer|unut\\p{L}*|hiç \\p{L}+(?:dım|dim|dum|düm|tım|tim|tum|tüm|medim|madım)|\\p{L}+ (?:mı|mi|mu|mü)|(?:hep|her zaman|daima) (?:\\p{L}+ ){0,6}?(?:sür|çök|kesil|takıl|düş|unut|hata ver|kapan)\\p{L}*(?:yor|dü|di|ir|ur)\\p{L}*|\\p{L}+(?:medim|madım|mıştım|miştim)|sanırım|galiba|belki|teşekkür\\p{L}*',
  permits:
    '\\p{L}+(?:abilir|ebilir)(?:sin|siniz|iz)?|(?:tekrar|yine|yeniden) serbest|serbest|artık (?:serbest|sorun değil|gerek yok)',
  names: 'türkçe|ingilizce|almanca|fransızca|ispanyolca|rusça|arapça',
  causes:
    'çünkü|bu yüzden|bu nedenle|dolayısıyla|sebe[bp]\\p{L}*|neden(?:i|iyle)|yerine|zira|karar verdim|seçtim|tercih ettim',
  consents: 'evet|tamam|olur|tabii|devam(?: et)?|hayır',
  announces:
    'önce|şimdi|bir bak\\p{L}*|bak(?:ayım|alım|acağım)|(?:\\p{L}+ ){1,5}(?:\\p{L}+(?:acağım|eceğim|ayım|eyim|alım|elim)|(?:bakı|inceli|karşılaştırı|ölçü|arı|deni|kontrol edi|oku|açı)\\p{L}*yorum)',
  abbreviations: 'vb vs örn yy bkz',
  endings:
    'larından lerinden larının lerinin larında lerinde larına lerine larını lerini larımız lerimiz lardan lerden ların lerin larda lerde lara lere ları leri ımızdan imizden ımız imiz umuz ümüz lar ler ndan nden nda nde sından sinden sının sinin sına sine sını sini ından inden ının inin ında inde ına ine ını ini dan den tan ten da de ta te nın nin nun nün ın in un ün sı si su sü yı yi yu yü ya ye la le ı i u ü a e',
  minStem: 4,
};
