import type { Language } from './language.ts';

export const ITALIAN: Language = {
  code: 'it',
  script: 'latin',
  words:
    "il lo la i gli le l' un uno una un' di del dello della dei degli delle d' e ed o è sono in nel nella nei nelle che chi non né per con senza su sul sulla da dal dalla a al alla ai alle se si mi ti ci vi ne io tu lui lei noi voi loro mio mia tuo tua suo sua ma come quando già più molto anche dove perché questo questa questi queste quello ho hai ha hanno essere sempre mai solo ogni tutto tutti tutte tra fra prima dopo ora adesso poi usa usare deve devono niente",
  standing:
    "d'ora in (?:poi|avanti)|da ora in (?:poi|avanti)|da (?:adesso|oggi) in (?:poi|avanti)|in futuro|senza eccezioni|come regola|fino a nuovo ordine",
  cues: "mai|sempre|dev(?:e|ono|i)|bisogna|occorre|(?:^|, |per favore,? )non \\p{L}+(?:are|ere|ire|arli|arlo|arla|erlo)|vietat\\p{L}*|obbligatori\\p{L}*|soltanto|esclusivamente|unicamente|evita(?:re)?|preferisco|in nessun caso|per nessun motivo|usa solo|solo [^.?]*(?:usare|usa|con|per)|niente \\p{L}+ (?:in|nel|senza)|non voglio|non servono|rispondi(?:mi)? [^.?]*in (?:italiano|inglese)|al massimo|massimo|almeno|prima di ogni|dopo ogni|a ogni|ad ogni|ogni volta che|rest(?:a|ano) (?:così|com'è|come|invariat\\p{L}*|ugual\\p{L}*)|(?:invece di|al posto di) [^.?]*(?:ovunque|dappertutto)|(?:ovunque|dappertutto)|senza (?:prima )?(?:chieder|consultar|avvisar)\\p{L}*|(?:chiedimi|avvisami|consultami) [^.?]*prima|lascia [^.?]*(?:stare|in pace|com'è|intatt\\p{L}*)|giù le mani|si scriv(?:e|ono)",
  vetoes:
    'non (?:funziona|va|so|è|era|capisco|ho|posso|vedo|trovo|ricordo|parte)|ho|ha|hanno|abbiamo|avevo|(?:deve|dovrebbe) (?:essere (?:un|una|più|il|la)|esserci|avere)|perché|mostra\\p{L}*|fammi vedere|per ora|per adesso|ancora|stavolta|questa volta|dimentic\\p{L}*|forse|è sempre|(?:sempre|mai) (?:due|tre|\\d)|(?:impiega|dura|fallisce|si blocca|crasha|cade|si interrompe|dà|mette|si ferma) (?:\\p{L}+ )?(?:sempre|mai)|ieri|era|erano',
  permits:
    '(?:puoi|potete|può)(?! (?:spiegar|guardar|veder|dir|aiutar)\\p{L}*)|di nuovo (?:permess|consentit)\\p{L}*|va bene|non serve più',
  names: 'italiano|inglese|francese|tedesco|spagnolo|portoghese|russo|cinese|giapponese|coreano|turco|arabo',
  causes: 'perché|poiché|quindi|perciò|siccome|causa|motivo|dovuto|ragione|invece di|deciso|scelto',
  consents: "sì|si|va bene|certo|d['’]accordo|procedi|continua|perfetto",
  announces:
    'vado a|fammi|lasciami|prima (?:guardo|controllo)|ora (?:guardo|controllo|verifico|cerco)|adesso (?:guardo|controllo)|(?:controllo|guardo|verifico|cerco|confronto|provo|misuro|leggo|apro|analizzo|esamino|vediamo|diamo)',
  abbreviations: 'p.es ecc sig dott',
  endings:
    'amenti amento imenti imento azioni azione izioni izione zioni zione sioni sione amente mente atori atore ità abili abile ibili ibile ando endo avano ava evano eva arono ate ati ata ato ute uti uta uto ite iti ita ito are ere ire ano ono i e a o',
  prefixes: "l' d' un' dell' all' nell' sull' dall' c'",
  minStem: 3,
};
