import type { Language } from './language.ts';

export const VIETNAMESE: Language = {
  code: 'vi',
  script: 'latin',
  words:
    'và hoặc hay là của cho với trong ngoài trên dưới từ đến để thì mà nhưng nếu khi vì nên không chưa đã đang sẽ được bị có các những một hai này đó kia ấy tôi bạn anh chị em mình chúng ta nó họ gì sao nào đâu ai cũng vẫn còn chỉ rất quá lại ra vào lên xuống hãy đừng phải luôn mọi mỗi tất cả trước sau bây giờ nữa thêm bao giờ trở thể',
  standing:
    '(?:kể )?từ (?:bây giờ|giờ|nay|lúc này)(?: trở đi)?|kể từ (?:bây giờ|nay)|về sau|sau này|từ giờ trở đi|không có ngoại lệ',
  cues: 'không được|đừng(?: bao giờ)?|luôn|luôn luôn|phải|bắt buộc|tuyệt đối|cấm|nghiêm cấm|tránh|ưu tiên|không bao giờ|chỉ (?:được|dùng|sử dụng|thụt|viết|trả)|chỉ [^.?]*(?:thôi|tab)|(?:tôi )?không (?:muốn|cần|thích)|tối đa|nhiều nhất|không quá|ít nhất|trước mỗi|sau mỗi|mỗi (?:khi|lần)|giữ nguyên|để nguyên|vẫn giữ|thay (?:vì|cho) [^.?]*(?:ở mọi|khắp)|(?:ở )?(?:mọi nơi|khắp nơi)|(?:dùng|sử dụng) [^.?]*thay (?:vì|cho)|(?:mà )?(?:không|chưa) (?:hỏi|xin phép|có sự đồng ý)|hỏi (?:ý )?(?:kiến )?tôi (?:trước|đã)|không (?:dùng|sử dụng|thêm|sửa|xóa|chạm|động|đụng|gửi)',
  vetoes:
    'tại sao|vì sao|sao|đừng (?:lo|quên)|tôi (?:luôn|chưa|hay|không (?:biết|hiểu|thấy|thể)|phải|quên)|luôn (?:bị|lỗi|mất|thất bại|dừng|ngắt|hỏng)|mất (?:hai|\\d+) phút|không được rồi|phải không|hãy cho|cho (?:tôi|mình) (?:xem|biết)|cho xem|chưa (?:bao giờ|từng)|khoan|tạm thời|lúc này|lần này|vội|chắc (?:chắn|là|phải)?|hẳn|có lẽ|(?:này|đó) phải (?:là|nhanh)|quên|phải (?:là|có) (?:lỗi|một)',
  permits:
    '(?:có thể|được phép) (?:\\p{L}+ ){0,5}?(?:lại|trở lại|rồi)|lại (?:có thể|được phép)|không cần (?:\\p{L}+ ){0,4}?nữa|(?:bạn|anh) (?:có thể|được)',
  names: '(?:bằng )?tiếng \\p{L}+',
  causes: 'vì|bởi vì|bởi|do đó|vì vậy|vì thế|nên|nguyên nhân|lý do|thay vì|quyết định|chọn',
  consents: 'vâng|có|được|đồng ý|ừ|tiếp tục|không',
  announces:
    '(?:để )?(?:tôi|mình|em) (?:sẽ|xem|kiểm tra|thử|so sánh|tìm|đo|đọc|chạy)|(?:tôi|mình) (?:đang|bắt đầu)|trước (?:tiên|hết)|đầu tiên|hãy (?:xem|để)|bây giờ (?:tôi|mình)',
  abbreviations: 'vd tp',
};
