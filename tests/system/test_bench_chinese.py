"""The Chinese test bed of benchmarks/similar: texts of packages, labelled reposts, and what is counted of
them. No test asks a network but the one that is marked heavy."""

import collections
import json
import os
import random
import re
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest

from places import BUILD, SOURCE
from test_bench_filters import smoke

sys.path.insert(0, str(SOURCE / "benchmarks" / "similar"))
sys.path.insert(1, str(SOURCE / "benchmarks"))

import chinese  # noqa: E402
import chinese_measure  # noqa: E402
import descriptions  # noqa: E402
import drawings  # noqa: E402
import opencc  # noqa: E402
import packages  # noqa: E402
import page_text  # noqa: E402
import reposts  # noqa: E402
import tables  # noqa: E402

RUN = SOURCE / "benchmarks" / "similar" / "run.py"
SAMPLE = descriptions.read(SOURCE / "benchmarks" / "similar" / "sample_zh.jsonl")
TEXTS = [item for item in SAMPLE if item["text"]]
LINES = [item for item in SAMPLE if not item["text"]]
LONG = "\n".join(item["text"] for item in TEXTS if item["lang"] == "zh-CN")
needs_opencc = pytest.mark.skipif(not opencc.is_there(), reason="opencc isn't there: apt-get install opencc")


# Text of pages


def test_text_is_chinese_by_its_letters():
    assert all(map(page_text.is_chinese, ["打开文件", "打开 PDF 文件"]))
    others = ["open 文件", "開啟 abcd", "", "123, 45", "ファイルを開く"]
    assert not any(map(page_text.is_chinese, others))


def test_a_page_is_cut_at_headings_without_its_navigation():
    page = """<html><head><title>标题</title><script>var a = "脚本";</script></head><body><header><p>顶部</p></header>
      <div class="navheader"><div>上一页</div><p>下一页</p></div><div class="page"><h1>第一<b>章</b></h1><p>第一行
      第二行 and
      latin text&amp;<br>新的一行</p><pre>代码 <b>code</b></pre><ul><li>甲</li><li>乙</li></ul>
      <h2>第二节</h2><table><tr><td>左</td><td>右</td></tr></table></div><footer><p>底部</p></footer></body></html>"""
    assert page_text.marked_up(page, page_text.HTML) == [
        ["第一章", "第一行第二行 and latin text&", "新的一行", "甲", "乙"],
        ["第二节", "左", "右"],
    ]
    assert page_text.marked_up("<p>没有结束<div class='toc'>目录", page_text.HTML) == [["没有结束"]]


def test_a_page_of_mallard_has_its_steps():
    page = """<page xmlns="http://projectmallard.org/1.0/"><info><link type="guide" xref="a"/><desc>说明</desc></info><title>节省电量</title>
      <p>关闭 <gui>蓝牙</gui>。</p><steps><item><p>打开设置。</p></item></steps><section><title>更多</title><p>调暗屏幕。</p></section></page>"""
    assert page_text.marked_up(page, page_text.MALLARD) == [
        ["节省电量", "关闭 蓝牙。", "打开设置。"],
        ["更多", "调暗屏幕。"],
    ]


def test_a_man_page_loses_its_macros():
    page = r""".\" 注释
.TH CHMOD 1 2022
.SH 名称
chmod \- 改变文件
模式
.SH "描 述"
.PP
本手册页记录了 \fBchmod\fP(1)\&。
.TP
.BR \-R , " --recursive"
递归地改变\(em全部
.nf
code 代码
.fi
.B 重要
"""
    assert page_text.roff(page) == [
        ["名称", "chmod - 改变文件模式"],
        ["描 述", "本手册页记录了 chmod(1)。", "-R, --recursive 递归地改变—全部", "重要"],
    ]
    assert page_text.roff(".so man1/other.1\n") == [] == page_text.roff(".Dd May 1\n.Nm 名\n")


def test_fortunes_are_entries():
    assert page_text.fortunes("\x1b[32m题目\x1b[m\n第一行，\n第二行。\n\n  -- 作者\n%\n另一条\n%\n") == [
        ["题目第一行，第二行。", "-- 作者"],
        ["另一条"],
    ]


def catalogue(messages, order="<"):
    """A .mo file of {original: translation}."""
    rows = [(original.encode(), translation.encode()) for original, translation in sorted(messages.items())]
    begin, tables_of, data = 28 + 16 * len(rows), [[], []], b""
    for row in rows:
        for table, text in zip(tables_of, row):
            table.append(struct.pack(f"{order}2I", len(text), begin + len(data)))
            data += text + b"\0"
    head = struct.pack(f"{order}7I", 0x950412DE, 0, len(rows), 28, 28 + 8 * len(rows), 0, 0)
    return head + b"".join(tables_of[0]) + b"".join(tables_of[1]) + data


@pytest.mark.parametrize("order", "<>")
def test_a_catalogue_has_its_messages(order):
    made = catalogue({"": "Language: zh_CN", "a": "打开", "b\0bs": "%d 个文件\0%d 个文件们"}, order)
    assert page_text.messages(made) == ["打开", "%d 个文件"]
    for broken in (made[:40], b"", b"nothing of this kind"):
        assert page_text.messages(broken) == []


@pytest.mark.parametrize(
    "message,lines",
    [
        ("打开(_O)", ["打开"]),
        ("開啟 (~F)...", ["開啟..."]),
        ("&Open 文件", ["Open 文件"]),
        ("一 & 二", ["一 & 二"]),
        ("<b>重要</b>：一<br/>二", ["重要：一", "二"]),
        ("第一行\n\n第二行", ["第一行", "第二行"]),
        ("a < b 而且 c > d", ["a < b 而且 c > d"]),
    ],
)
def test_a_message_has_the_lines_that_a_person_sees(message, lines):
    assert page_text.message_lines(message) == lines


# Packages


def package(folder, name, files):
    """A .deb with {path: bytes}."""
    tree = folder / f"tree-{name}"
    for path, content in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content)
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN" / "control").write_text(
        f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: a test\n"
    )
    deb = folder / f"{name}_1_all.deb"
    subprocess.run(
        ["dpkg-deb", "--build", "--root-owner-group", tree, deb], check=True, capture_output=True, timeout=60
    )
    return deb


def test_files_of_a_package_are_read_without_unpacking(tmp_path):
    deb = package(
        tmp_path, "some", {"usr/share/a.html": b"one", "usr/share/b.txt": b"two", "usr/lib/c.html": b"three"}
    )
    assert dict(packages.files(deb, r"share/.*\.html$")) == {"usr/share/a.html": b"one"}
    deb.write_bytes(deb.read_bytes()[:200])
    with pytest.raises(descriptions.NoTexts, match="some_1_all.deb can't be read"):
        list(packages.files(deb, "."))


def test_the_first_package_that_exists_is_taken():
    assert packages.chosen(("new | old", "gone", "other"), {"old", "other", "more"}) == ["old", "other"]


class Apt:
    """Stands for apt's programs: knows packages, and `download` puts files into the folder, unless there is
    no network."""

    def __init__(self, monkeypatch):
        self.known, self.online, self.downloads = [], True, []
        monkeypatch.setattr(subprocess, "run", self.run)

    def run(self, command, cwd=None, **_):
        program, what, *names = [str(part) for part in command if part != "-c"][0], *map(str, command[3:])
        if program == "apt-cache":
            return subprocess.CompletedProcess(command, 0, stdout="\n".join(self.known), stderr="")
        if what == "download" and self.online:
            self.downloads.append(names)
            for name in names:
                (cwd / f"{name}_1_all.deb").write_text("a package")
        status, said = (0, "") if self.online else (100, "Err:1 Could not resolve")
        return subprocess.CompletedProcess(command, status, stdout="", stderr=said)


def test_packages_are_downloaded_once_in_thirty_days(tmp_path, monkeypatch):
    apt = Apt(monkeypatch)
    apt.known = ["git", "old", "unrelated"]
    found = packages.fetched(("git", "new | old", "gone"), tmp_path)
    assert sorted(found) == ["git", "old"] and all(path.exists() for path in found.values())
    assert packages.fetched(("git", "new | old", "gone"), tmp_path) == found
    assert apt.downloads == [["git", "old"]]
    packages.fetched(("git",), tmp_path)  # another list
    assert apt.downloads[1:] == [["git"]] and list(packages.fetched(("git",), tmp_path)) == ["git"]

    long_ago = time.time() - 31 * 86400
    os.utime(tmp_path / "fetched", (long_ago, long_ago))
    apt.online = False
    assert list(packages.fetched(("git",), tmp_path)) == ["git"], "old packages are better than none"
    apt.online = True
    packages.fetched(("git",), tmp_path)
    assert len(apt.downloads) == 3


def test_a_machine_without_a_network_is_told_so(tmp_path, monkeypatch):
    Apt(monkeypatch).online = False
    with pytest.raises(descriptions.NoTexts, match="is there a network.*\n.*Could not resolve"):
        packages.fetched(("git",), tmp_path)


# Texts and lines


def test_texts_are_joined_and_cut_within_the_limits():
    sections = [
        ["标题", "短" * 50],
        ["二", "句" * 300],
        ["长", *("段" * 90 for _ in range(60))],
        ["块" * 6_000],
        ["尾"],
    ]
    texts = chinese.texts_of(sections)
    assert texts[0] == "标题\n" + "短" * 50 + "\n二\n" + "句" * 300
    assert texts[-1].endswith("尾") and "块" not in "".join(texts)
    assert max(map(len, texts)) <= 5_000 and sum(text.count("段") for text in texts) == 60 * 90


def test_a_paragraph_of_many_pages_is_no_text():
    shared, heading = "本页面由某某计划提供。", "描述"
    pages = [(str(i), [[heading, f"第 {i} 页", shared]]) for i in range(chinese.SHARED_PAGES + 1)]
    assert [page for _, page in chinese.without_shared(pages)] == [
        [[heading, f"第 {i} 页"]] for i in range(len(pages))
    ]
    assert chinese.without_shared(pages[1:])[0][1] == [[heading, "第 1 页", shared]]


def test_items_come_from_pages_catalogues_and_descriptions(tmp_path, monkeypatch):
    text = TEXTS[0]["text"]
    of_cn = catalogue({"a": "无法打开这个文件，因为它不存在(_O)", "b": "短", "c": "English only, no Han"})
    of_tw = catalogue({"a": "無法開啟這個檔案，因為它不存在"})
    of_man = {
        "usr/share/man/zh_TW/man1/a.1": f".SH 名稱\n{TEXTS[4]['text']}\n".encode(),
        "usr/share/man/zh_CN/man1/a.1": f".SH 名称\n{text}\n".encode(),
    }
    of_git = {f"usr/share/locale/zh_{at}/LC_MESSAGES/git.mo": mo for at, mo in (("CN", of_cn), ("TW", of_tw))}
    debs = {
        name: package(tmp_path, name, files) for name, files in (("manpages-zh", of_man), ("git", of_git))
    }
    title = "无法打开这个 文件，因为它不存在"
    described = [
        {"item_id": "x", "title": title, "text": f"名称\n{text} ", "lang": "zh-CN"},
        {"item_id": "y", "title": "一个可以整理照片文件名的小程序", "text": "", "lang": "zh-CN"},
    ]
    descriptions.write(tmp_path / "zh.jsonl", described)
    monkeypatch.setattr(descriptions, "prepared", lambda folder: {"zh": folder / "zh.jsonl"})
    monkeypatch.setattr(packages, "fetched", lambda wanted, folder: {name: deb for name, deb in debs.items()})
    paths = chinese.prepared(tmp_path)
    long, lines = (descriptions.read(paths[name]) for name in ("long", "lines"))
    assert sorted((item["lang"], item["title"]) for item in long) == [("zh-CN", ""), ("zh-TW", "")], (
        "the description differs in white space only"
    )
    assert {item["title"]: item["lang"] for item in lines} == {
        "无法打开这个文件，因为它不存在": "zh-CN",
        "無法開啟這個檔案，因為它不存在": "zh-TW",
        "一个可以整理照片文件名的小程序": "zh-CN",
    }
    assert chinese.by_source(lines) == {"git": {"zh-CN": 1, "zh-TW": 1}, "descriptions": {"zh-CN": 1}}
    written = paths["long"].stat().st_mtime_ns
    assert chinese.prepared(tmp_path)["long"].stat().st_mtime_ns == written, "nothing is newer"


def test_packages_have_enough_texts():
    """Of the packages' texts that `make bench-similar` has prepared: their download is too large for every
    run of the tests."""
    paths = {name: descriptions.FOLDER / f"zh-{name}.jsonl" for name in ("long", "lines")}
    if not all(path.exists() for path in paths.values()):
        pytest.skip("no texts: make bench-similar prepares them")
    for name, enough in (("long", 4_000), ("lines", 20_000)):
        items = descriptions.read(paths[name])
        langs = [item["lang"] for item in items]
        texts = [reposts.body(item) for item in items]
        assert len(items) >= enough and min(langs.count("zh-CN"), langs.count("zh-TW")) >= enough / 4, name
        ids = {item["item_id"] for item in items}
        assert len(ids) == len({"".join(text.split()) for text in texts}) == len(items), name
        assert all(chinese.fits(text, chinese.LENGTHS[name]) for text in texts), name


@pytest.mark.heavy
@needs_opencc
def test_reposts_in_the_other_script_are_found(tmp_path):
    """The bars of the default method, on the descriptions of packages alone: the whole test bed takes
    minutes."""
    try:
        known = [item | {"lang": "zh-CN"} for item in descriptions.read(descriptions.prepared()["zh"])]
    except descriptions.NoTexts as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no texts: {error}")
    texts = {
        "long": [item | {"title": ""} for item in known if len(item["text"]) >= 100],
        "lines": [item | {"text": ""} for item in known if len(item["title"]) >= 15],
    }
    paths = {}
    for name, items in texts.items():
        items = list(descriptions.distinct((reposts.body(item), item) for item in items))
        assert len(items) >= 200, name
        paths[name] = tmp_path / f"{name}.jsonl"
        descriptions.write(paths[name], items)
    plan = chinese_measure.Plan(
        settings={"trigrams": ()}, strengths=(5, 10), sample=200
    )  # the default of bench_similar, as of seend
    figures = chinese_measure.chinese_measure(BUILD / "bench_similar", paths, plan)
    for of in figures["texts"]:
        together = of["settings"]["trigrams"]["together"]
        precision, recall = chinese_measure.BARS[of["name"]]
        assert (
            together["pairs"] >= 500 and together["precision"] >= precision and together["recall"] >= recall
        ), (of["name"], together)


# Reposts


def made_of(kind, percent, text=LONG, lang="zh-CN", seed=1):
    return reposts.repost(text, lang, kind, percent, random.Random(f"{seed} {kind} {percent}"))


@pytest.mark.parametrize("percent", reposts.STRENGTHS)
@pytest.mark.parametrize("kind", reposts.EDITS)
def test_an_edit_reaches_its_strength_and_no_more(kind, percent):
    for seed in range(20):
        made = made_of(kind, percent, seed=seed)
        if made:
            most = round(percent / 100 * len(LONG))
            assert percent / 200 <= made.strength <= most / len(LONG) and made.text != LONG
            assert made == made_of(kind, percent, seed=seed), "the same seed gives the same text"
    if percent <= 10:
        assert made_of(kind, percent), "applicable to a text of four paragraphs"
        assert len({made_of(kind, percent, seed=seed).text for seed in range(5)}) > 1


def inserted(made):
    """The strength, if only insertions make it."""
    return (len(made.text) - len(LONG)) / len(LONG)


@pytest.mark.parametrize("percent", reposts.STRENGTHS)
def test_emoji_are_put_in_and_nothing_else_changes(percent):
    made = made_of("emoji", percent)
    assert made.strength == pytest.approx(inserted(made))
    emoji = sorted(reposts.EMOJI, key=len, reverse=True)
    assert re.sub("|".join(map(re.escape, emoji)), "", made.text) == LONG
    assert re.search(f"(?:{'|'.join(map(re.escape, emoji))}){{2}}", made.text) or percent < 10


@pytest.mark.parametrize("kind", ["source line", "watermark"])
@pytest.mark.parametrize("lang", ["zh-CN", "zh-TW"])
def test_lines_are_put_in_and_the_text_stays(kind, lang):
    for percent in reposts.STRENGTHS:
        made = made_of(kind, percent, lang=lang)
        if made:
            assert made.strength == pytest.approx(inserted(made))
            kept = iter(made.text.split("\n"))
            assert all(line in kept for line in LONG.split("\n")), "the lines in their order"
    assert not re.search(
        "[转网来链]" if lang == "zh-TW" else "[轉網來鏈]", made_of("source line", 40, "一" * 500, lang).text
    )


def test_a_watermark_is_in_front_and_comes_again():
    texts = [made.text.split("\n") for seed in range(20) if (made := made_of("watermark", 20, seed=seed))]
    assert len(texts) > 10 and all(first in others and first not in LONG for first, *others in texts)


def test_a_watermark_and_a_source_line_fit_or_are_left_out():
    assert made_of("watermark", 5, "二十五个字的一行文字里没有给长长的水印留下什么地方") is None
    short = made_of("source line", 20, "这里有二十个字左右的一行文字用来做个试验")
    assert short and len(short.text) <= 24 and "\n" in short.text


def letters(text):
    return [letter for letter in text if letter.isalnum()]


def test_punctuation_alone_changes():
    for percent in (5, 10):
        made = made_of("punctuation", percent)
        assert letters(made.text) == letters(LONG) and made.text != LONG
    text = "版本 3.5 在 www.example.com，很好。"
    for seed in range(20):
        made = made_of("punctuation", 10, text, seed=seed)
        assert made and "3.5" in made.text and "www.example.com" in made.text


def test_sentences_move_and_none_is_lost():
    for percent in reposts.STRENGTHS:
        made = made_of("reordered sentences", percent)
        if made:
            assert sorted(reposts.sentences(made.text)) == sorted(reposts.sentences(LONG))
            assert [len(line) > 0 for line in made.text.split("\n")] == [True] * 4
    assert made_of("reordered sentences", 40, "只有一句。") is None


def test_words_alone_change_letters():
    made = made_of("words", 10)
    assert len(made.text) <= len(LONG) and letters(made.text) != letters(LONG)
    assert made.strength == pytest.approx(0.1, abs=1 / len(LONG))


def test_all_has_every_kind_with_a_share():
    made = made_of("all", 20)
    assert any(emoji in made.text for emoji in reposts.EMOJI) and len(made.text.split("\n")) > 4 + 1
    assert not collections.Counter(letters(LONG)) - collections.Counter(letters(made.text)), "no letter goes"


def test_sentences_are_the_text():
    for item in SAMPLE:
        assert "".join(reposts.sentences(reposts.body(item))) == reposts.body(item)
    assert reposts.sentences("他说：“好。”走了！！\n\n然后") == ["他说：“好。”", "走了！！", "\n\n", "然后"]


def test_a_bed_has_originals_reposts_and_pairs():
    beds = list(reposts.beds(TEXTS, script="same", sample=4))
    assert {bed.kind for bed in beds} == set(reposts.EDITS), "the same script has no copies without edits"
    for bed in beds:
        assert bed.items[: len(TEXTS)] == TEXTS and len(bed.pairs) == len(bed.items) - len(TEXTS) <= 4
        assert len({item["item_id"] for item in bed.items}) == len(bed.items)
        for (original, copy), strength in bed.pairs.items():
            assert (
                original < len(TEXTS) <= copy
                and bed.percent / 200 <= strength <= bed.percent / 100 + 0.5 / 100
            )
            assert bed.items[original]["lang"] == bed.items[copy]["lang"]
    full = next(bed for bed in beds if bed.kind == "emoji" and bed.percent == 10)
    assert sorted(item["lang"] for item in full.items[len(TEXTS) :]) == ["zh-CN"] * 2 + ["zh-TW"] * 2
    again = list(reposts.beds(TEXTS, script="same", sample=4))
    assert again == beds and list(reposts.beds(TEXTS, script="same", sample=4, seed=2)) != beds


def test_a_title_of_several_lines_has_its_first_as_the_title():
    (bed,) = [
        bed
        for bed in reposts.beds(LINES, script="same", strengths=(40,), sample=3)
        if bed.kind == "watermark"
    ]
    for original, copy in bed.pairs:
        title, text = bed.items[copy]["title"], bed.items[copy]["text"]
        assert (
            "\n" not in title
            and text.startswith(LINES[original]["title"])
            and reposts.body(bed.items[copy]) == f"{title}\n{text}"
        )


@needs_opencc
def test_opencc_converts_in_order():
    texts = ['鼠标里面\n"后面\\"', "", "头发\t发展", "plain"]
    assert opencc.converted(texts, "s2tw") == ['鼠標裡面\n"後面\\"', "", "頭髮\t發展", "plain"]
    assert (
        opencc.by_turns(["里", "里", "里", "里"], ("s2t", "s2tw")) == [("裏", "zh-Hant"), ("裡", "zh-TW")] * 2
    )
    assert opencc.converted([], "s2t") == []
    with pytest.raises(opencc.NoOpenCC, match="nowhere.json"):
        opencc.converted(["一"], "nowhere")


def test_opencc_that_isnt_there_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert not opencc.is_there()
    with pytest.raises(opencc.NoOpenCC, match="apt-get install opencc"):
        opencc.converted(["一"], "s2t")


@needs_opencc
def test_reposts_are_in_the_other_script():
    same = LINES[0] | {"item_id": "same", "title": "一二三四"}
    beds = {(bed.kind, bed.percent): bed for bed in reposts.beds([*TEXTS, same], strengths=(10,))}
    assert {kind for kind, _ in beds} >= set(reposts.KINDS) - {"reordered sentences"}, (
        "no sentence is short enough"
    )
    for (kind, _), bed in beds.items():
        for original, copy in bed.pairs:
            item, made = bed.items[original], bed.items[copy]
            assert item["item_id"] != "same", "nothing of it would change"
            assert reposts.simplified(item["lang"]) != reposts.simplified(made["lang"])
    (copies,) = [bed for (kind, _), bed in beds.items() if kind == "converted words"]
    assert any("软件" in item["text"] for item in copies.items), "軟體 in the words of the other place"


# What is counted


def test_figures_of_a_bed():
    items = [
        {"item_id": str(i), "title": "", "text": text, "lang": "zh-CN"}
        for i, text in enumerate(("甲乙丙丁戊己庚辛", "甲乙丙丁戊己庚辛壬", "子丑寅卯"))
    ]
    bed = reposts.Bed("emoji", 10, items, {(0, 1): 0.1, (0, 2): 0.12})
    found = {(0, 1), (1, 2), (0, 0)}  # the last has no repost
    figures = chinese_measure.of_bed(bed, found, lambda pair: pair in bed.pairs, originals=1)
    assert (figures["found"], figures["right"], figures["labelled"], figures["pairs"]) == (2, 1, 1, 2)
    assert (figures["precision"], figures["recall"]) == (0.5, 0.5) and figures["reached"] == pytest.approx(
        0.11
    )
    nothing = chinese_measure.of_bed(bed, set(), None, originals=1)
    assert nothing["precision"] is None and nothing["recall"] == 0


def of(kind, percent, **counts):
    usual = {"reached": percent / 100, "pairs": 10, "labelled": 9, "found": 10, "right": 10}
    return {"kind": kind, "percent": percent, **usual, **counts}


def test_the_bars_are_about_some_kinds_up_to_ten_percent():
    judged = [of("converted", 0), of("emoji", 10), of("all", 10, labelled=0, found=5, right=4)]
    others = [of("emoji", 20, labelled=0), of("words", 5, found=99), of("converted words", 0, found=99)]
    counts = {"pairs": 30, "labelled": 18, "found": 25, "right": 24}
    assert chinese_measure.together(judged + others) == counts | {"precision": 24 / 25, "recall": 18 / 30}


@needs_opencc
def test_the_truth_simplifies_before_it_compares():
    texts = TEXTS[0]["text"], opencc.converted([TEXTS[0]["text"]], "s2tw")[0], TEXTS[1]["text"]
    langs = "zh-CN", "zh-TW", "zh-CN"
    items = [
        {"item_id": str(i), "title": "", "text": text, "lang": lang}
        for i, (text, lang) in enumerate(zip(texts, langs))
    ]
    known = chinese_measure.Truth(items)
    assert known.pairs == {(0, 1): 1.0}
    natural = chinese_measure.natural({(0, 1), (0, 2)}, known, items)
    two = natural["two scripts"]
    assert (two["found"], two["recall"], natural["all"]["precision"]) == (1, 1.0, 0.5)
    copies = [items[1] | {"item_id": "3"}, items[2] | {"item_id": "4"}]
    right = known.judge(reposts.Bed("words", 40, [*items, *copies], {(0, 4): 0.4}))
    judged = [right(pair) for pair in ((0, 3), (2, 4), (3, 4), (0, 4), (1, 4))]
    assert judged == [True, True, False, True, True], "(0, 4) is labelled, and 1 is a copy of 0"


@needs_opencc
def test_the_truth_knows_the_words_of_taiwan_too():
    mainland = TEXTS[0]["text"] + "打开文件，打印数据库的字段，软件和网络。"
    taiwan = opencc.converted([mainland], "s2twp")[0]
    items = [
        {"item_id": lang, "title": "", "text": text, "lang": lang}
        for text, lang in ((mainland, "zh-CN"), (taiwan, "zh-TW"))
    ]
    assert opencc.converted([taiwan], "t2s") != [mainland], "other words"
    assert chinese_measure.Truth(items).pairs == {(0, 1): 1.0}


FAKE = """
import json, sys
sys.path.insert(0, {folder!r})
import truth
given = dict(argument.split("=", 1) for argument in sys.argv[1:])
items = [json.loads(line) for line in open(given["items"], encoding="utf-8")]
print(json.dumps({{"what": "features", "items": len(items), "seconds": 0.001}}))
assert given["segmentation"]
similar = {{}}
for i, j in truth.near_pairs(truth.shingle_sets(items), 0.5):
    similar.setdefault(i, []).append([j])
    similar.setdefault(j, []).append([i])
for item, others in similar.items():
    print(json.dumps({{"what": "item", "item": item, "similar": others}}))
print(json.dumps({{"what": "run", "run": given["runs"], "items": len(items), "bytes": 1}}))
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Stands for bench_similar: finds what is similar without folding."""
    path = tmp_path_factory.mktemp("program") / "fake"
    path.write_text(f"#!{sys.executable}\n" + FAKE.format(folder=str(SOURCE / "benchmarks" / "similar")))
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def figures(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    paths = {"long": folder / "long.jsonl", "lines": folder / "lines.jsonl"}
    for path, items in zip(paths.values(), (TEXTS, LINES)):
        descriptions.write(path, items)
    plan = chinese_measure.Plan(
        settings={"trigrams": ("segmentation=trigrams",)}, strengths=(5, 20), script="same"
    )
    if not opencc.is_there():
        pytest.skip("opencc isn't there: the truth needs it")
    return chinese_measure.chinese_measure(program, paths, plan)


def test_measuring_gives_figures_for_each_kind_and_strength(figures):
    long, lines = figures["texts"]
    assert (long["items"], lines["items"], figures["chosen"]) == (len(TEXTS), len(LINES), "trigrams")
    beds = {(bed["kind"], bed["percent"]): bed for bed in long["settings"]["trigrams"]["beds"]}
    assert set(beds) >= {
        (kind, percent) for kind in ("emoji", "punctuation", "words", "all") for percent in (5, 20)
    }
    assert (
        beds["emoji", 20]["recall"] == beds["emoji", 20]["precision"] == 1.0
        and beds["words", 20]["recall"] < 1
    )
    judged = [bed["pairs"] for (kind, percent), bed in beds.items() if percent == 5 and kind != "words"]
    assert long["settings"]["trigrams"]["together"]["pairs"] == sum(judged)
    assert json.loads(json.dumps(figures))["bars"]["long"] == [0.95, 0.90]


def test_tables_and_chart_of_the_figures(figures):
    text, kinds = tables.chinese(figures), tables.chinese_kinds(figures)
    assert (
        f"{len(TEXTS)} texts" in text and "| trigrams | **100.0%**" in text and "reposts: precision" in text
    )
    assert "| emoji | trigrams |" in kinds and "#### Recall by kind: single lines" in kinds
    worse = json.loads(json.dumps(figures))
    worse["texts"][0]["settings"]["trigrams"]["together"] |= {"precision": 0.9, "recall": 0.5}
    assert "90.0% (below 95%) | 50.0% (below 90%)" in tables.chinese(worse)
    root = xml.etree.ElementTree.fromstring(drawings.chinese_by_strength(figures))
    shown = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert shown.count("trigrams") == shown.count("20%") >= 6 and "emoji" in shown


def run_smoke(program, folder, **environment):
    only = ["--smoke", "--only", "chinese", "--texts", folder]
    return smoke(RUN, folder, program, *only, environment=environment)


@needs_opencc
def test_a_smoke_run_writes_the_page(program, tmp_path):
    (tmp_path / "figures.json").write_text('{"other": 1}')
    run_smoke(program, tmp_path)
    page, figures = (tmp_path / "SIMILAR.md").read_text(), json.loads((tmp_path / "figures.json").read_text())
    assert "\n| trigrams | " in page and (tmp_path / "similar" / "chinese-by-strength.svg").exists()
    assert figures["other"] == 1 and figures["chinese"]["strengths"] == [10], "the other part's figures stay"
    assert "<!-- generated: chinese -->\n<!-- end -->" not in page


def test_a_smoke_run_without_opencc_says_so(program, tmp_path):
    assert "opencc isn't there" in run_smoke(program, tmp_path, PATH="").stderr
    assert json.loads((tmp_path / "figures.json").read_text()) == {"chinese": None}


def test_the_proposed_boilerplate_is_that_of_the_page():
    page = (SOURCE / "docs" / "SIMILAR.md").read_text()
    proposed = re.search(r'^    "boilerplate": (\[.*?\])\n\n', page, re.S | re.M)
    assert json.loads(proposed[1]) == chinese_measure.BOILERPLATE.read_text(encoding="utf-8").splitlines()
