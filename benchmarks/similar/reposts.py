"""Labelled reposts: copies of Chinese texts with edits of a known kind and strength.

**Strength** is the number of characters that were inserted, changed or moved, divided by the characters of
the text before the edit. A character is a Unicode code point, and the text is the repost's own, after it was
converted to its script and before it was edited.

- Inserted: each code point that the edit puts in. An emoji of several code points counts each of them, a line
  its line break too.
- Changed: each code point that the edit replaces or drops. A replacement counts once.
- Moved: each code point of a sentence that now stands elsewhere. The sentences that it passed don't count.

An edit never does more than it was asked for: at most round(strength * characters). It does less where no
place or line is left that fits. An edit that reaches less than half of that isn't applicable (None).

Each repost has its own random numbers, of the seed, the kind, the strength and the item's id. So the same
seed gives the same reposts, whatever else is made."""

import dataclasses
import random
import re

import opencc
import page_text

OF_SIMPLIFIED, OF_TRADITIONAL = ("s2t", "s2tw", "s2hk"), ("t2s", "tw2s")  # configurations of OpenCC, by turns
WORDS_OF_SIMPLIFIED, WORDS_OF_TRADITIONAL = ("s2twp",), ("tw2sp",)  # these change the vocabulary too
STRENGTHS = (5, 10, 20, 40)
CONVERTED, CONVERTED_WORDS = "converted", "converted words"
SAMPLE = 600
SEED = 1
APPLIED_MIN = 0.5  # of the strength

HAN = f"[{page_text.HAN}]"
SENTENCE = re.compile(r"[^。！？!?；;…\n]*[。！？!?；;…]+[”’」』）)》\"]*|[^。！？!?；;…\n]+|\n+")
WIDTHS = dict(zip("，。！？；：（）～", ",.!?;:()~"))
WIDTHS |= {half: full for full, half in WIDTHS.items()}
MARKS = "，。！？；：、…—～·「」『』《》“”（）,.!?;:()~"
MARK = re.compile(rf"(?<![0-9A-Za-z])[{re.escape(MARKS)}]|[{re.escape(MARKS)}](?![0-9A-Za-z])")
PARTICLES = "的了着著在和与與及或也就都把被从從对對"
BETWEEN_WORDS = re.compile(
    rf"(?<=[，、：, {PARTICLES}])(?={HAN})|(?<=[0-9A-Za-z])(?={HAN})|(?<={HAN})(?=[0-9A-Za-z])"
)
EMOJI = (
    "😀 😂 😍 😭 😱 🤔 🙏 👍 👏 💪 🔥 ✨ 🎉 💯 🚀 🌟 ⭐ ❗ ✅ 📌 📷 🌸 🍀 🎁 ❤️ ☀️ ✔️ ➡️ 👍🏻 👏🏼 🇨🇳 👩‍💻 🤷‍♂️ 👨‍👩‍👧 1️⃣ 2️⃣"
).split()


def both(*lines):
    """((simplified, traditional), ...) of lines "simplified = traditional". One that is the same in both
    stands once."""
    return tuple(tuple((line.split(" = ") * 2)[:2]) for line in lines)


# {0}: a site, {1}: an account, {2}: a person, {3}: a subject, {4}: a day, {5}: a time of that day.
SOURCE_LINES = both(
    "转载 = 轉載",
    "转自网络 = 轉自網路",
    "图文来自网络 = 圖文來自網路",
    "来源：{0} = 來源：{0}",
    "转载自：{0} = 轉載自：{0}",
    "文章来源：{0} = 文章來源：{0}",
    "作者：{2} = 作者：{2}",
    "编辑：{2} = 編輯：{2}",
    "来源：{0} 作者：{2} = 來源：{0} 作者：{2}",
    "本文转载自公众号「{1}」 = 本文轉載自公眾號「{1}」",
    "本文首发于微信公众号：{1}（ID：{1}） = 本文首發於微信公眾號：{1}（ID：{1}）",
    "来源：{0} {4} {5} = 來源：{0} {4} {5}",
    "发布时间：{4} {5} = 發布時間：{4} {5}",
    "{0} {4} {5} 来源：{1} = {0} {4} {5} 來源：{1}",
    "（记者{2} {4}电） = （記者{2} {4}電）",
    "责任编辑：{2} {4} = 責任編輯：{2} {4}",
    "点击阅读原文 = 點擊閱讀原文",
    "点击“阅读原文”查看更多 = 點擊「閱讀原文」查看更多",
    "原文链接：https://example.com/a/20240518 = 原文連結：https://example.com/a/20240518",
    "#{3} = #{3}",
    "#{3}# = #{3}#",
    "#{3} #干货分享 #每日推荐 = #{3} #乾貨分享 #每日推薦",
    "【版权声明】本文版权归原作者所有，转载请注明出处，如有侵权请联系我们删除。 = 【版權聲明】本文版權歸原作者所有，轉載請註明出處，如有侵權請聯絡我們刪除。",
    "免责声明：本文来自{0}，仅代表作者个人观点，与本号无关。 = 免責聲明：本文來自{0}，僅代表作者個人觀點，與本號無關。",
    "喜欢就点个赞吧，记得关注「{1}」，每天更新！ = 喜歡就按個讚吧，記得追蹤「{1}」，每天更新！",
    "往期推荐：这些文章你可能也喜欢 = 往期推薦：這些文章你可能也喜歡",
    "扫码加入读者群，和{2}一起讨论 = 掃碼加入讀者群，和{2}一起討論",
)
WATERMARKS = both(
    "@{2} = @{2}",
    "©{1} = ©{1}",
    "@{2} · 原创 = @{2} · 原創",
    "公众号·{1} = 公眾號·{1}",
    "@{2} · 原创 首发于{0} = @{2} · 原創 首發於{0}",
    "{1}｜原创作品 未经授权禁止转载 = {1}｜原創作品 未經授權禁止轉載",
    "{0} @{2} 出品 = {0} @{2} 出品",
    "首发于 {1} | 作者 {2} = 首發於 {1} | 作者 {2}",
)
NAMES = (  # sites, accounts, persons, subjects; none is real
    both(
        "每日见闻网 = 每日見聞網",
        "晨光新闻 = 晨光新聞",
        "东方科技站 = 東方科技站",
        "知事社区 = 知事社區",
        "云上日报 = 雲上日報",
    ),
    both(
        "数码小课堂 = 數碼小課堂",
        "程序员茶馆 = 程式員茶館",
        "深夜读书会 = 深夜讀書會",
        "效率研究所 = 效率研究所",
        "极客手册 = 極客手冊",
    ),
    both(
        "小林 = 小林",
        "阿华 = 阿華",
        "王小明 = 王小明",
        "老张说事 = 老張說事",
        "陈小姐 = 陳小姐",
        "木木 = 木木",
    ),
    both(
        "科技 = 科技",
        "电脑技巧 = 電腦技巧",
        "读书 = 讀書",
        "生活 = 生活",
        "办公软件 = 辦公軟體",
        "学习 = 學習",
    ),
)
TIMES = (  # days, times
    both(
        *(
            day
            for month in (1, 5, 11)
            for date in (3, 12, 28)
            for day in (
                f"2024-{month:02}-{date:02}",
                f"2024年{month}月{date}日",
                f"{month}月{date}日",
                f"2024/{month}/{date}",
            )
        )
    ),
    both(*(f"{hour:02}:{minute:02}" for hour in (8, 14, 23) for minute in (5, 30, 47))),
)


def simplified(lang):
    return lang in ("zh-CN", "zh-Hans")


def filled(line, lang, chance):
    script = 0 if simplified(lang) else 1
    lists = NAMES + TIMES if "{4}" in line[script] else NAMES
    return line[script].format(*(chance.choice(names)[script] for names in lists))


def sentences(text):
    """The pieces of the text, in order. Together they are the text. Line breaks are pieces of their own."""
    return SENTENCE.findall(text)


def put_in(text, insertions):
    """`insertions`: {position: text}. The positions are of `text`."""
    out, begin = [], 0
    for position in sorted(insertions):
        out += [text[begin:position], insertions[position]]
        begin = position
    return "".join(out) + text[begin:]


# Each edit takes the text, the most characters to insert, change or move, the language and random numbers. It
# returns the new text and how many characters it inserted, changed or moved.


def emoji(text, most, lang, chance):
    """Runs of one to three emoji: seven of ten at ends of sentences, the others between words. Without a
    dictionary, places between words are those after a comma, a space or a particle, and beside Latin
    words."""
    ends, position = [], 0
    for piece in sentences(text):
        position += len(piece)
        if not piece.startswith("\n"):
            ends.append(position)
    places = sorted({found.start() for found in BETWEEN_WORDS.finditer(text)} - set(ends))
    chance.shuffle(ends)
    chance.shuffle(places)
    insertions, used = {}, 0
    while used < most and (ends or places):
        position = (ends if ends and (not places or chance.random() < 0.7) else places).pop()
        for _ in range(chance.choice((1, 1, 1, 2, 2, 3))):
            fitting = [one for one in EMOJI if len(one) <= most - used]
            if fitting:
                one = chance.choice(fitting)
                insertions[position] = insertions.get(position, "") + one
                used += len(one)
    return put_in(text, insertions), used


def source_lines(text, most, lang, chance):
    """Lines about the source, hashtags and calls to click, each at most once: three of ten in front, the
    others at the end."""
    front, end, used = [], [], 0
    lines = list(SOURCE_LINES)
    chance.shuffle(lines)
    for line in lines:
        line = filled(line, lang, chance)
        if used + len(line) + 1 <= most:
            (front if chance.random() < 0.3 else end).append(line)
            used += len(line) + 1
    return "\n".join([*front, text, *end]), used


def watermark(text, most, lang, chance):
    """A line in front with a name, and the same line again at ends of lines and of the text, as often as
    fits."""
    fitting = [line for line in (filled(line, lang, chance) for line in WATERMARKS) if len(line) + 1 <= most]
    if not fitting:
        return text, 0
    mark = chance.choice(fitting)
    places = [len(text), *(found.start() for found in re.finditer("\n", text))]
    again = chance.sample(places, min(len(places), most // (len(mark) + 1) - 1))
    return f"{mark}\n" + put_in(text, {place: f"\n{mark}" for place in again}), (1 + len(again)) * (
        len(mark) + 1
    )


def punctuation(text, most, lang, chance):
    """Marks get another width, become other marks, go, or come up to four times. A mark inside a Latin word
    or a number stays."""
    text, used = list(text), 0
    places = [found.start() for found in MARK.finditer("".join(text))]
    chance.shuffle(places)
    for place in places:
        if used >= most:
            break
        mark, edit = text[place], chance.choice(("width", "other", "gone", "more"))
        if edit == "width" and mark in WIDTHS:
            text[place] = WIDTHS[mark]
        elif edit == "gone":
            text[place] = ""
        elif edit == "more":
            extra = min(chance.randint(1, 3), most - used)
            text[place] = mark * (1 + extra)
            used += extra - 1
        else:
            text[place] = chance.choice([other for other in "，。！？、；…～!,." if other != mark])
        used += 1
    return "".join(text), used


def reordered(text, most, lang, chance):
    """Sentences move elsewhere, each at most once. Line breaks stay where they are."""
    pieces = sentences(text)
    places = [i for i, piece in enumerate(pieces) if not piece.startswith("\n")]
    if len(places) < 2:
        return text, 0
    order, used = list(places), 0  # order[i]: which sentence stands at the i-th place
    for moved in chance.sample(places, len(places)):
        if used + len(pieces[moved]) <= most and pieces[moved].strip():
            now = order.index(moved)
            to = chance.choice([place for place in range(len(order)) if place != now])
            order.insert(to, order.pop(now))
            used += len(pieces[moved])
    out = list(pieces)
    for place, sentence in zip(places, order):
        out[place] = pieces[sentence]
    if "".join(out) == text:  # equal sentences, or two that changed places and back
        return text, 0
    return "".join(out), used


def words(text, most, lang, chance):
    """One or two characters at a time become other characters of the text. Three of ten times they are
    dropped."""
    out, used = list(text), 0
    places = [found.start() for found in re.finditer(HAN, text)]
    letters = [text[place] for place in places]
    chance.shuffle(places)
    touched = set()
    for place in places:
        if used >= most:
            break
        drop, length = chance.random() < 0.3, min(chance.randint(1, 2), most - used)
        for at in range(place, place + length):
            if at < len(text) and at not in touched and re.match(HAN, text[at]):
                touched.add(at)
                other = chance.choice(letters)
                out[at] = "" if drop or other == text[at] else other
                used += 1
    return "".join(out), used


def everything(text, most, lang, chance):
    """All kinds but `words`. Each has an equal share of what is left, so that one that finds no place leaves
    its share to the next."""
    used = 0
    for left, edit in zip((5, 4, 3, 2, 1), (reordered, punctuation, emoji, watermark, source_lines)):
        text, done = edit(text, (most - used) // left, lang, chance)
        used += done
    return text, used


EDITS = {
    "emoji": emoji,
    "source line": source_lines,
    "punctuation": punctuation,
    "reordered sentences": reordered,
    "watermark": watermark,
    "words": words,
    "all": everything,
}
KINDS = (CONVERTED, CONVERTED_WORDS, *EDITS)
APART = ("words", CONVERTED_WORDS)  # what no bar is about


@dataclasses.dataclass
class Repost:
    text: str
    lang: str
    strength: float  # that was reached


def repost(text, lang, kind, percent, chance):
    """A Repost of a text that is in its script already, or None if the kind isn't applicable at that
    strength."""
    if kind in (CONVERTED, CONVERTED_WORDS):
        return Repost(text, lang, 0.0)
    wanted = percent / 100 * len(text)
    edited, used = EDITS[kind](text, round(wanted), lang, chance)
    return Repost(edited, lang, used / len(text)) if used > 0 and used >= APPLIED_MIN * wanted else None


def body(item):
    return (
        item["title"] + "\n" + item["text"]
        if item["title"] and item["text"]
        else item["title"] + item["text"]
    )


def item_of(made, item_id, as_title):
    """A text of several lines has its first line as the title, if the original is a title."""
    title, _, text = made.text.partition("\n") if as_title else ("", "", made.text)
    return {"item_id": item_id, "title": title, "text": text, "lang": made.lang}


class Copies:
    """The originals' texts in the script of the reposts: [(text, lang), ...] for the kinds of KINDS."""

    def __init__(self, originals, script="other"):
        """`script`: "other" than the original's, or the "same". NoOpenCC: opencc isn't there."""
        if script == "same":
            self.plain = [(body(item), item["lang"]) for item in originals]
            self.words = None
        else:
            self.plain = in_other_script(originals, OF_SIMPLIFIED, OF_TRADITIONAL)
            self.words = in_other_script(originals, WORDS_OF_SIMPLIFIED, WORDS_OF_TRADITIONAL)

    def of(self, kind):
        """None: the same script has no such kind."""
        if self.words is None:
            return None if kind in (CONVERTED, CONVERTED_WORDS) else self.plain
        return self.words if kind == CONVERTED_WORDS else self.plain


def in_other_script(originals, of_simplified, of_traditional):
    out = [None] * len(originals)
    for is_simplified, configurations in ((True, of_simplified), (False, of_traditional)):
        places = [i for i, item in enumerate(originals) if simplified(item["lang"]) == is_simplified]
        for place, copy in zip(
            places, opencc.by_turns([body(originals[place]) for place in places], configurations)
        ):
            out[place] = copy
    return out


def evenly(originals, seed):
    """All positions in the order in which reposts are tried: by chance, the scripts by turns."""
    chance = random.Random(f"{seed} order")
    groups = [
        [i for i, item in enumerate(originals) if simplified(item["lang"]) == is_simplified]
        for is_simplified in (True, False)
    ]
    for group in groups:
        chance.shuffle(group)
    longest = max(map(len, groups))
    return [group[i] for i in range(longest) for group in groups if i < len(group)]


@dataclasses.dataclass
class Bed:
    """The originals with reposts of one kind and strength."""

    kind: str
    percent: int
    items: list  # the originals, then the reposts
    pairs: dict  # {(original, repost): strength that was reached}, as positions in items


def bed(originals, copies, kind, percent, seed=SEED, sample=SAMPLE):
    """A Bed with at most `sample` reposts: of the first originals, in the order of evenly(), for which the
    kind is applicable. A text that is the same in both scripts has no repost in the other one."""
    items, pairs = list(originals), {}
    texts = copies.of(kind)
    for position in evenly(originals, seed) if texts else ():
        if len(pairs) == sample:
            break
        item = originals[position]
        text, lang = texts[position]
        if simplified(lang) != simplified(item["lang"]) and text == body(item):
            continue
        made = repost(text, lang, kind, percent, random.Random(f"{seed} {kind} {percent} {item['item_id']}"))
        if made:
            pairs[position, len(items)] = made.strength
            items.append(item_of(made, f"{item['item_id']}/{kind}/{percent}", bool(item["title"])))
    return Bed(kind, percent, items, pairs)


def beds(originals, script="other", strengths=STRENGTHS, seed=SEED, sample=SAMPLE):
    """A Bed for each kind and strength. A kind without edits has one, of strength 0. Those without any repost
    are left out."""
    copies = Copies(originals, script)
    for kind in KINDS:
        for percent in strengths if kind in EDITS else (0,):
            made = bed(originals, copies, kind, percent, seed, sample)
            if made.pairs:
                yield made
