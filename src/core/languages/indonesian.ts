import type { Language } from './language.ts';

/** Indonesian and Malay. */
export const INDONESIAN: Language = {
  code: 'id',
  script: 'latin',
  words:
    'yang dan atau di ke dari untuk dengan tanpa pada dalam oleh ini itu adalah ada tidak tak bukan jangan belum sudah telah akan bisa boleh harus saya aku kamu anda kami kita dia mereka apa siapa mana kenapa mengapa bagaimana kapan jika kalau karena tetapi tapi juga hanya saja lagi selalu semua setiap sebelum sesudah setelah sekarang tolong mohon lebih sangat seperti agar supaya pernah',
  standing: 'mulai sekarang|mulai hari ini|ke depannya|untuk selanjutnya|seterusnya|tanpa kecuali|tanpa pengecualian',
  cues: 'jangan(?: pernah)?|selalu|harus|wajib|hanya [^.?]*(?:gunakan|pakai|boleh|dengan)|gunakan hanya|dilarang|terlarang|tidak boleh|tidak usah|hindari|pastikan|lebih suka|dalam keadaan apa pun|saya tidak (?:mau|ingin)|paling banyak|maksimal|minimal|sebelum setiap|setiap kali|di mana-mana|di semua tempat|alih-alih|tetap (?:seperti|sama|apa adanya)|biarkan [^.?]*(?:saja|apa adanya)|tanpa (?:bertanya|izin|persetujuan|tanya)|tanya(?:kan)? [^.?]*(?:dulu|sebelum)',
  vetoes:
    'kenapa|mengapa|jangan (?:khawatir|lupa)|(?:jangan|nanti|lihat|coba) (?:\\p{L}+ )?dulu|saya (?:harus|tidak (?:tahu|bisa|mengerti)|selalu|belum|lupa)|selalu (?:gagal|error|butuh|memakan|berhenti|lupa|putus|terputus|mati)|tunjukkan|perlihatkan|pasti(?! kan)|sudah|belum|untuk sementara|sementara|kali ini|lupa|mungkin|seharusnya|harus(?:nya)? (?:lebih|ada)',
  permits: '(?:boleh|bisa) (?:\\p{L}+ ){0,4}?lagi|(?:sudah )?diizinkan|diperbolehkan|tidak perlu lagi',
  names: 'indonesia|inggris|melayu|jerman|prancis|jepang',
  causes: 'karena|sebab|sehingga|jadi|oleh karena itu|akibat|alasan\\p{L}*|daripada|alih-alih|memilih|memutuskan',
  consents: 'ya|iya|oke|baik|boleh|lanjut(?:kan)?|silakan|tidak',
  announces:
    'saya (?:akan|cek|periksa|lihat|coba|mulai|cari|bandingkan)|mari|biar saya|pertama|sekarang saya|coba saya',
  abbreviations: 'dll dsb mis',
  endings: 'nyalah kanlah kannya annya inya nya kan lah kah pun an i',
  prefixes: 'memper menge menye meng mem men me di ber per peng pen pem pe ter se ke',
  minStem: 4,
};
