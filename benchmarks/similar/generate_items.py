#!/usr/bin/env python3
"""Prints items with plausible texts, one JSON object a line. Some are copies of earlier items.

    benchmarks/similar/generate_items.py --items 50000 | seenctl generate --from - --key item_id --topic items

The items are those that `seenctl generate --items N` shows. The same options give the same bytes. An item that
is a copy names its original (`copy_of`) and how the copy was made (`edit`): `verbatim` has other markup, case
and links, `words` another phrase, `sentence` one more sentence."""

import argparse
import json
import random

COPIES_REACH_BACK = 50  # a copy's source is one of so many items before it
EDITS = ("verbatim", "words", "sentence")


def phrases(*slots):
    return [[phrase.strip() for phrase in slot.split(",")] for slot in slots]


ENGLISH = phrases(  # who, did, what, where, when
    """the city council, a team of engineers, local farmers, the national museum, two young doctors,
    the harbour master, a retired teacher, the football club, researchers, the railway company,
    a small bakery, the weather service, volunteers, the school board, a group of students,
    the fire brigade, the central bank, an old fisherman, the orchestra, several mayors,
    a software company, the court, nurses, the public library, a local painter, the power plant,
    union leaders, the airport, a family of five, the ministry""",
    """opened, rejected, repaired, announced, discovered, postponed, rebuilt, measured, celebrated, sold,
    designed, tested, cancelled, financed, photographed, inspected, protected, replaced, presented,
    launched, questioned, welcomed, translated, expanded, restored, defended, borrowed, collected,
    simplified, renamed""",
    """a new bridge, the winter timetable, an electric ferry, the oldest apple tree, a plan for bicycles,
    three stone houses, the budget, a rare manuscript, the swimming pool, a theory of tides,
    cheaper tickets, an archive of letters, the market hall, a wind farm, the annual festival,
    a vaccine trial, the flooded tunnel, a chess tournament, the northern highway, an observatory,
    fresh water pipes, a collection of maps, the tax reform, a solar kitchen, the missing painting,
    night trains, a cooking course, the coral reef, a satellite antenna, the village school""",
    """near the river, in Lisbon, on the island, behind the station, in the old town, across the border,
    at the lake, in Nairobi, outside the capital, under the hill, along the coast, in Osaka,
    beside the cathedral, in the valley, at the university, in Montevideo, close to the forest,
    on platform nine, in the harbour, north of Trondheim, in a former factory, on the main square,
    in the mountains, at the southern gate, in Wellington, between two villages, in the laboratory, at sea,
    in the suburbs, on the roof""",
    """last Monday, before sunrise, after months of debate, this spring, for the first time, without warning,
    within a week, during the storm, as promised, against all advice, ten years later, on Friday evening,
    at half the price, with great care, by a narrow majority, in record time, despite the rain,
    for the second year, in silence, according to witnesses, with borrowed money, once again,
    as a precaution, to general surprise, until further notice, by hand, every Sunday, on schedule,
    over the holidays, in two languages""",
)
CHINESE = phrases(  # when, who, where, did, what
    """上周一, 日出之前, 今年春天, 第一次, 一周之内, 暴风雨中, 十年以后, 星期五晚上, 昨天, 经过讨论, 按照计划, 突然, 冒着大雨, 再次, 假期里, 凌晨三点, 去年, 近日, 下个月,
    悄悄, 公开, 连续两年, 每个周末, 最后""",
    """市政府, 研究人员, 当地农民, 国家博物馆, 两位医生, 铁路公司, 退休教师, 足球俱乐部, 气象局, 志愿者, 消防队, 中央银行, 老渔民, 交响乐团, 软件公司, 法院, 护士们, 图书馆,
    画家, 发电厂, 工会, 机场, 教育部, 大学生""",
    """在河边, 在上海, 在岛上, 在车站后面, 在老城区, 在湖畔, 在大学里, 在山谷, 在港口, 在广州, 在森林附近, 在广场上, 在实验室, 在郊区, 在旧工厂, 在海边, 在成都, 在村口, 在北京,
    在屋顶, 在山脚下, 在边境, 在东京, 在南门""",
    """修复了, 宣布了, 发现了, 推迟了, 测试了, 庆祝了, 出售了, 设计了, 取消了, 检查了, 保护了, 更换了, 展示了, 启动了, 质疑了, 欢迎了, 翻译了, 扩建了, 拍摄了, 收集了,
    简化了, 研究了, 介绍了, 改造了""",
    """一座新桥, 冬季时刻表, 电动渡轮, 最古老的苹果树, 自行车道, 三座石头房子, 年度预算, 珍贵的手稿, 游泳池, 潮汐理论, 廉价车票, 一批书信, 菜市场, 风力发电站, 音乐节, 疫苗试验,
    地下隧道, 象棋比赛, 北部高速公路, 天文台, 自来水管, 古代地图, 税收改革, 珊瑚礁""",
)


def sentence_of(chance, chinese):
    return [chance.choice(slot) for slot in (CHINESE if chinese else ENGLISH)]


def original_of(number, options):
    """The item that `number` copies, over several steps; `number` itself if it is no copy."""
    while number > 0:
        chance = random.Random(f"{options.seed} copy {number}")
        if chance.random() >= options.copies:
            break
        number -= 1 + chance.randrange(min(number, COPIES_REACH_BACK))
    return number


def capital(text):
    return text[:1].upper() + text[1:]


def title_and_text(sentences, chinese):
    first = sentences[0]
    if chinese:
        return first[1] + first[3] + first[4], "".join(f"{s[0]}，{''.join(s[1:])}。" for s in sentences)
    return capital(" ".join(first[:3])), " ".join(capital(" ".join(s)) + "." for s in sentences)


def item_of(number, options):
    original = original_of(number, options)
    chance = random.Random(f"{options.seed} text {original}")
    chinese = chance.random() < options.chinese
    sentences = [sentence_of(chance, chinese) for _ in range(options.sentences)]
    item = {"item_id": options.prefix + str(number) if options.prefix else id_of(number)}
    if original == number:
        item["title"], item["text"] = title_and_text(sentences, chinese)
        return {**item, "lang": "zh" if chinese else "en"}
    edit = random.Random(f"{options.seed} edit {number}")
    kind = edit.choice(EDITS)
    if kind == "sentence" or (kind == "words" and len(sentences) < 2):
        sentences.append(sentence_of(edit, chinese))
    elif kind == "words":  # never of the first sentence: the title consists of its phrases
        sentence, slot = edit.choice(sentences[1:]), edit.randrange(len(sentences[0]))
        others = [p for p in (CHINESE if chinese else ENGLISH)[slot] if p != sentence[slot]]
        sentence[slot] = edit.choice(others)
    title, text = title_and_text(sentences, chinese)
    if kind == "verbatim":
        title = title.upper()
        text = f'<p class="repost">{text}</p>\n<a href="https://mirror.example/{item["item_id"]}"></a>'
    original_id = options.prefix + str(original) if options.prefix else id_of(original)
    lang = "zh" if chinese else "en"
    return {**item, "title": title, "text": text, "lang": lang, "copy_of": original_id, "edit": kind}


def id_of(number):
    """The id that `seenctl generate` gives to the item of this rank."""
    return f"n{(number + 1) * 0x85EBCA6B % 2**32:08x}"


def main():
    def share(most):
        def parse(word):
            value = float(word)
            if not 0 <= value <= most:
                raise argparse.ArgumentTypeError(f"{word} is outside 0 to {most}")
            return value

        return parse

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--copies", type=share(0.9), default=0.2, help="share of items that are copies")
    parser.add_argument("--chinese", type=share(1), default=0.25, help="share of texts in Chinese")
    parser.add_argument("--sentences", type=int, default=12, choices=range(1, 1001), metavar="1..1000")
    parser.add_argument("--prefix", default="", help="of ids; empty: the ids of seenctl generate")
    options = parser.parse_args()
    for number in range(options.items):
        print(json.dumps(item_of(number, options), ensure_ascii=False))


if __name__ == "__main__":
    main()
