import { lazily } from '../lazy.ts';

const NOT_ASCII = /[^\0-\x7f]/;
/** Fullwidth letters and digits, halfwidth kana. */
const WIDTHS = /[\uff01-\uffdc]+/g;
const ARABIC = /[\u0610-\u06ff]/;
const ARABIC_MARKS = /[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]/g;
const HEBREW_MARKS = /[\u0591-\u05bd\u05bf-\u05c7]/g;
const DIGITS = /[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef]/g;
const IDEOGRAPHS = /[\u4e00-\u9fff\ufa11]+/g;

/** One class with the characters of several, so that most texts are searched once. */
export function anyClass(...classes: readonly RegExp[]): RegExp {
  return new RegExp(`[${classes.map(({ source }) => source.replace(/^\[|\]\+?$/g, '')).join('')}]`);
}

export const FOLDED = anyClass(WIDTHS, ARABIC, HEBREW_MARKS, DIGITS, IDEOGRAPHS);
/** Letters that people and keyboards exchange. */
const ARABIC_LETTERS: ReadonlyMap<string, string> = new Map(
  ['أا', 'إا', 'آا', 'ٱا', 'ىي', 'یي', 'ةه', 'ؤو', 'ئي', 'کك'].map(([from = '', to = '']) => [from, to] as const),
);
const ARABIC_VARIANTS = /[أإآٱىیةؤئک]/g;

const simplified = lazily(() => {
  const signs = Array.from(SIMPLIFIED.replaceAll('\n', ''));
  return new Map(signs.flatMap((sign, at) => (at % 2 === 0 ? [[sign, signs[at + 1] ?? sign] as const] : [])));
});

/** Writes what a language spells in several ways in one: widths, digits, Arabic letters and vowel signs, traditional Chinese. */
export function foldLetters(text: string): string {
  if (!FOLDED.test(text)) return text;
  const read = text
    .replace(WIDTHS, (run) => run.normalize('NFKC'))
    .replace(DIGITS, (digit) => String((digit.charCodeAt(0) - (digit < '\u0900' ? 0 : 6)) & 0xf))
    .replace(HEBREW_MARKS, '')
    .replace(IDEOGRAPHS, simplify);
  if (!ARABIC.test(read)) return read;
  return read.replace(ARABIC_MARKS, '').replace(ARABIC_VARIANTS, (letter) => ARABIC_LETTERS.get(letter) ?? letter);
}

/** Replaces traditional characters; the length stays. */
export function simplify(text: string): string {
  let simple = '';
  for (const sign of text) simple += simplified().get(sign) ?? sign;
  return simple;
}

/** Letters without a decomposition, as people type them who do not have them. */
const LATIN: ReadonlyMap<string, string> = new Map(
  Object.entries({ ı: 'i', ß: 'ss', đ: 'd', ð: 'd', ø: 'o', ł: 'l', æ: 'ae', œ: 'oe', þ: 'th' }),
);
const LATIN_VARIANTS = /[ıßđðøłæœþ]/g;
const ACCENTS = /[\u0300-\u036f]+/g;

/** A word in lower case without accents, and with plain letters. */
export function foldAccents(word: string): string {
  if (!NOT_ASCII.test(word)) return word;
  return word
    .normalize('NFD')
    .replace(ACCENTS, '')
    .normalize('NFC')
    .replace(LATIN_VARIANTS, (letter) => LATIN.get(letter) ?? letter);
}

/**
 * Traditional characters of Chinese, each before its simplified form: those of both standards of common characters. Other forms of the same
 * character in names at the end.
 */
const SIMPLIFIED = `
丟丢並并乾干亂乱亞亚佈布佔占併并來来侖仑侶侣侷局係系俠侠倆俩倉仓個个們们倖幸倫伦偉伟側侧偵侦偽伪傑杰傘伞備备傢家傭佣傳传
債债傷伤傾倾僅仅僑侨僕仆僥侥僱雇價价儀仪億亿儈侩儉俭儘尽償偿優优儲储兇凶兌兑兒儿內内兩两冊册冪幂凍冻凜凛凱凯別别刪删則则
剋克剎刹剛刚剝剥創创剷铲劃划劇剧劉刘劊刽劍剑劑剂勁劲動动務务勛勋勝胜勞劳勢势勳勋勵励勸劝勻匀匯汇區区協协卹恤卻却厭厌厲厉
參参叢丛吳吴吶呐呂吕員员唸念問问啞哑啟启喚唤喪丧喫吃喬乔單单喲哟嗆呛嗎吗嗚呜嘆叹嘔呕嘗尝嘩哗嘯啸噓嘘噴喷噸吨噹当嚇吓嚐尝
嚥咽嚨咙嚮向嚴严囂嚣囌苏囑嘱囪囱國国圍围園园圓圆圖图團团執执堅坚堯尧報报場场塊块塗涂塢坞塵尘塹堑墊垫墜坠墮堕墳坟墾垦壇坛
壓压壘垒壞坏壟垄壩坝壯壮壺壶壽寿夠够夢梦夥伙夾夹奧奥奪夺奮奋妝妆姦奸娛娱婁娄婦妇媽妈嬌娇嬰婴嬸婶孃娘孫孙學学孿孪宮宫寢寝
實实寧宁審审寫写寬宽寵宠寶宝將将專专尋寻對对導导屆届屍尸屜屉屢屡層层屬属岡冈島岛峽峡崑昆崗岗崙仑嶄崭嶺岭嶼屿嶽岳巒峦巖岩
帥帅師师帳帐帶带幀帧幟帜幣币幫帮幹干幾几庫库廁厕廂厢廄厩廈厦廚厨廟庙廠厂廢废廣广廬庐廳厅弔吊張张強强彆别彈弹彌弥彎弯彙汇
彥彦彫雕彿佛後后徑径從从復复徵征徹彻恆恒恥耻悅悦悶闷悽凄惡恶惱恼愛爱慄栗態态慘惨慚惭慣惯慫怂慮虑慶庆慼戚慾欲憂忧憊惫憐怜
憑凭憚惮憤愤憫悯憲宪憶忆懇恳應应懲惩懶懒懷怀懸悬懼惧懾慑戀恋戰战戲戏戶户拋抛拚拼挾挟捨舍捱挨捲卷掃扫掄抡掙挣掛挂採采揀拣
揚扬換换揮挥損损搖摇搗捣搶抢摟搂摯挚摺折摻掺撈捞撐撑撓挠撥拨撫抚撲扑撻挞撾挝撿捡擁拥擄掳擇择擊击擋挡擔担據据擠挤擬拟擰拧
擱搁擲掷擴扩擺摆擻擞擾扰攆撵攏拢攔拦攙搀攜携攝摄攣挛攤摊攪搅攬揽敗败敘叙敵敌數数斂敛斃毙斬斩斷断於于昇升時时晉晋晝昼暈晕
暢畅暫暂曆历曉晓曠旷曬晒書书會会朮术東东枴拐柵栅桿杆條条棄弃棗枣棟栋棧栈棲栖楊杨楓枫業业極极榦干榮荣構构槍枪槓杠槳桨樁桩
樂乐樑梁樓楼標标樞枢樣样樸朴樹树橋桥機机橢椭橫横檔档檢检檯台檸柠檻槛櫃柜櫥橱櫻樱欄栏權权欽钦歎叹歐欧歡欢歲岁歷历歸归殘残
殲歼殺杀殼壳毀毁毆殴氈毡氣气氫氢氾泛汎泛汙污決决沒没沖冲況况洩泄洶汹涼凉淒凄淚泪淨净淪沦淵渊淺浅渙涣減减渦涡測测渾浑湊凑
湧涌湯汤準准溝沟溫温溼湿滄沧滅灭滌涤滬沪滯滞滲渗滷卤滾滚滿满漁渔漢汉漣涟漬渍漲涨漸渐漿浆潑泼潔洁潛潜潤润潰溃澀涩澆浇澗涧
澤泽澱淀濁浊濃浓濕湿濘泞濛蒙濟济濤涛濫滥濰潍濱滨濺溅濾滤瀉泻瀋沈瀕濒瀝沥瀰弥瀾澜灑洒灘滩灣湾灤滦災灾為为烏乌無无煉炼煙烟
煥焕煩烦熒荧熱热熾炽燈灯燒烧燙烫營营燦灿燬毁燭烛燴烩燻熏燼烬爍烁爐炉爛烂爭争爺爷爾尔牆墙牴抵牽牵犢犊犧牺狀状狹狭狽狈猙狰
猶犹獄狱獅狮獎奖獨独獰狞獲获獵猎獸兽獺獭獻献現现琺珐瑣琐瑤瑶瑩莹瑪玛環环瓊琼甕瓮產产畝亩畢毕畫画異异當当疇畴疊叠痙痉痠酸
瘋疯瘍疡瘓痪瘡疮瘧疟療疗癒愈癟瘪癡痴癢痒癥症癬癣癱瘫發发皚皑皺皱盃杯盜盗盞盏盡尽監监盤盘盧卢盪荡眾众睏困睜睁瞞瞒矇蒙矚瞩
矯矫硃朱硯砚碩硕確确碼码磚砖礎础礙碍礦矿礫砾礬矾祕秘祿禄禍祸禦御禮礼禱祷禿秃稅税稈秆稜棱種种稱称穀谷積积穎颖穢秽穩稳穫获
窩窝窪洼窮穷窯窑窺窥竄窜竅窍竊窃競竞筆笔筍笋箇个箋笺節节範范築筑篩筛簍篓簑蓑簡简簽签簾帘籃篮籌筹籠笼籤签籬篱籮箩籲吁粵粤
糞粪糧粮糰团糾纠紀纪約约紅红紉纫紋纹納纳紐纽純纯紗纱紙纸級级紛纷紡纺紮扎細细紳绅紹绍終终絃弦組组絆绊結结絕绝絛绦絞绞絡络
絢绚給给絨绒統统絲丝絹绢綁绑綏绥綑捆經经綜综綠绿綢绸維维綱纲網网綴缀綵彩綸纶綻绽綽绰綿绵緊紧緒绪緘缄線线緝缉緞缎締缔緣缘
編编緩缓緬缅緯纬練练緻致縛缚縣县縫缝縮缩縱纵縴纤縷缕總总績绩繃绷織织繕缮繞绕繡绣繩绳繪绘繫系繭茧繳缴繹绎繼继續续纏缠纓缨
纔才纖纤纜缆缽钵罈坛罰罚罵骂罷罢羅罗羨羡義义習习翹翘聖圣聞闻聯联聰聪聲声聳耸聶聂職职聽听聾聋肅肃脅胁脈脉脣唇脩修脫脱脹胀
腎肾腦脑腫肿腳脚腸肠膚肤膠胶膩腻膽胆膿脓臉脸臍脐臘腊臟脏臥卧臨临臺台與与興兴舉举舊旧艙舱艦舰艱艰艷艳茲兹荊荆莊庄莖茎莢荚
華华菸烟萊莱萬万葉叶葦苇葷荤蒐搜蒼苍蓆席蓋盖蓮莲蔔卜蔣蒋蔥葱蔭荫蕩荡蕪芜蕭萧薊蓟薑姜薔蔷薦荐薩萨薹苔藍蓝藝艺藥药藹蔼蘆芦
蘇苏蘊蕴蘋苹蘭兰蘿萝處处虛虚虜虏號号虧亏蛻蜕蝕蚀蝦虾蝨虱蝸蜗螞蚂螢萤蟬蝉蟲虫蟻蚁蠅蝇蠍蝎蠟蜡蠱蛊蠶蚕蠻蛮術术衛卫衝冲補补
裝装裡里製制複复褲裤襖袄襪袜襬摆襯衬襲袭見见規规覓觅視视親亲覺觉覽览觀观觸触訂订訃讣計计訊讯討讨訓训訖讫託托記记訛讹訝讶
訟讼訣诀訪访設设許许訴诉診诊註注証证詐诈評评詛诅詞词詠咏詢询詣诣試试詩诗詫诧詭诡話话該该詳详誅诛誇夸誌志認认誕诞誘诱語语
誠诚誡诫誣诬誤误誦诵誨诲說说誰谁課课誹诽誼谊調调諄谆談谈請请諒谅論论諜谍諧谐諮咨諱讳諷讽諸诸諺谚諾诺謀谋謂谓謄誊謊谎謎谜
謗谤謙谦講讲謝谢謠谣謬谬謹谨譁哗證证譏讥識识譚谭譜谱譟噪譯译議议譴谴護护譽誉讀读變变讒谗讓让讚赞谿溪豈岂豎竖豐丰豔艳豬猪
貍狸貓猫貝贝貞贞負负財财貢贡貧贫貨货販贩貪贪貫贯責责貯贮貳贰貴贵貶贬買买貸贷費费貼贴貿贸賀贺賂赂賃赁賄贿資资賈贾賊贼賒赊
賓宾賜赐賞赏賠赔賢贤賣卖賤贱賦赋質质賬账賭赌賴赖賺赚購购賽赛贅赘贈赠贊赞贍赡贏赢贓赃贖赎贛赣趕赶趙赵趨趋跡迹踐践踴踊蹟迹
蹤踪躊踌躍跃軀躯車车軋轧軌轨軍军軒轩軟软軸轴較较載载輓挽輔辅輕轻輛辆輝辉輥辊輩辈輪轮輯辑輸输輻辐輾辗輿舆轄辖轅辕轉转轍辙
轎轿轟轰辦办辭辞辮辫辯辩農农迴回逕径這这連连週周進进遊游運运過过達达違违遙遥遜逊遞递遠远適适遲迟遷迁選选遺遗遼辽邁迈還还
邊边邏逻郵邮鄉乡鄒邹鄧邓鄭郑鄰邻醜丑醞酝醣糖醫医醬酱釀酿釁衅釋释釐厘釘钉針针釣钓釦扣釩钒鈉钠鈍钝鈔钞鈕钮鈞钧鈣钙鈴铃鈾铀
鉀钾鉅巨鉑铂鉗钳鉚铆鉛铅鉤钩鉸铰鉻铬銀银銅铜銑铣銘铭銜衔銳锐銷销銻锑鋁铝鋅锌鋇钡鋒锋鋤锄鋪铺鋸锯鋼钢錄录錐锥錘锤錠锭錢钱
錦锦錨锚錫锡錯错錳锰錶表鍊炼鍋锅鍍镀鍛锻鍬锹鍵键鍾钟鎂镁鎊镑鎖锁鎚锤鎢钨鎬镐鎮镇鎳镍鏈链鏟铲鏡镜鏽锈鐘钟鐮镰鐳镭鐵铁鑄铸
鑑鉴鑒鉴鑰钥鑲镶鑷镊鑼锣鑽钻鑿凿長长門门閃闪閉闭開开閏闰閑闲閒闲間间閘闸閡阂閣阁閤合閥阀閨闺閩闽閱阅閻阎闆板闊阔闌阑闖闯
關关闡阐闢辟陝陕陞升陣阵陰阴陳陈陸陆陽阳隊队階阶隕陨際际隨随險险隱隐隴陇隸隶隻只雖虽雙双雛雏雜杂雞鸡離离難难雲云電电霑沾
霧雾靈灵靜静鞏巩鞦秋韆千韋韦韌韧韓韩韻韵響响頁页頂顶頃顷項项順顺須须頌颂預预頑顽頒颁頓顿頗颇領领頤颐頭头頰颊頸颈頹颓頻频
顆颗題题額额顏颜願愿顛颠類类顧顾顫颤顯显顱颅風风颱台颳刮飄飘飛飞飢饥飯饭飲饮飼饲飽饱飾饰餃饺餅饼養养餌饵餒馁餓饿餘余餞饯
餡馅館馆餵喂餾馏饅馒饑饥饒饶饞馋馬马馭驭馮冯馱驮馳驰馴驯駁驳駐驻駒驹駕驾駛驶駝驼駭骇駱骆駿骏騁骋騎骑騙骗騰腾騷骚騾骡驅驱
驕骄驗验驚惊驟骤驢驴骯肮髒脏體体髮发鬆松鬍胡鬚须鬥斗鬧闹鬨哄鬱郁魚鱼魯鲁鮑鲍鮮鲜鯉鲤鯨鲸鰓鳃鱉鳖鱗鳞鳥鸟鳳凤鳴鸣鴉鸦鴕鸵
鴛鸳鴦鸯鴨鸭鴻鸿鴿鸽鵑鹃鵝鹅鵬鹏鵲鹊鶴鹤鷗鸥鷹鹰鹵卤鹹咸鹼碱鹽盐麗丽麥麦麴曲麵面麼么黃黄點点黨党黴霉鼕冬齊齐齋斋齒齿齡龄
齣出齧啮齲龋龍龙龐庞龔龚龜龟髙高﨑崎嶋岛`;
