"""Chinese items: reposts in the other script, boilerplate, and an index that an earlier version built."""

import json
import subprocess

from item_stream import Items, item, seen_similar
from places import SEENCTL, wait_until
from test_items import refusal

SIMPLIFIED = "图书馆开发的管理软件可以让读者随时查询藏书，也可以让馆员处理借阅记录。系统后台会备份所有资料，发生故障之后能够恢复。"
TRADITIONAL = "圖書館開發的管理軟件可以讓讀者隨時查詢藏書，也可以讓館員處理借閱記錄。系統後台會備份所有資料，發生故障之後能夠恢復。"
REPOST = TRADITIONAL.replace("，", "！😀😀").replace("。", "……👍 ")
JAPANESE = "図書館が開発した管理ソフトウェアで、利用者はいつでも蔵書を検索できます。後で資料を復元することもできます。"
BOILERPLATE = ["(转|轉)(载|載)自[：:][^\\n<]*", "#[^#\\s<]{1,30}#?"]


def compared(directory, config, *texts):
    """What seenctl says of two items: the text of each as it is compared, and whether they are alike."""
    names = []
    for number, text in enumerate(texts):
        names.append(f"@{directory / str(number)}.json")
        (directory / f"{number}.json").write_text(item(f"n{number}", text))
    path = directory / "items.json"
    path.write_text(json.dumps({"kafka": {"brokers": "127.0.0.1:9"}, **config}))
    done = subprocess.run(
        [SEENCTL, "similar", *names, "--config", path, "--json"], capture_output=True, text=True, timeout=20
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return [told[which]["compared_text"] for which in "ab"], told["alike"]


def test_a_repost_in_the_other_script_is_a_copy(topics, daemon, topic_name, tmp_path):
    items = Items(topics, topic_name)
    seend = daemon(topic_name, items.config()).start()
    items.send(item("n1", SIMPLIFIED, lang="zh-CN"), item("j1", JAPANESE, lang="ja"))
    items.wait_at_rest(seend)
    items.send(
        item("n2", REPOST, lang="zh-TW"),
        item("n3", "首发于某公众号 " + TRADITIONAL),
        item("j2", JAPANESE.replace("後", "后"), lang="ja"),
    )
    items.wait_at_rest(seend)
    groups = items.published()
    assert (groups["n2"]["group_id"], groups["n2"]["found_by"]) == ("n1", "copy")
    assert groups["n3"]["group_id"] == "n1" and 0.8 <= groups["n3"]["similarity"] < 1
    assert groups["j2"]["group_id"] == "j1" and groups["j2"]["found_by"] != "copy", "Japanese isn't folded"
    assert "segmentation=trigrams" in seend.log() and "folding_version=1" in seend.log()
    (one, two), alike = compared(tmp_path, items.config(), SIMPLIFIED, REPOST)
    assert alike and one == two and "后台会备份" in one


def test_boilerplate_is_taken_out(topics, daemon, topic_name):
    items = Items(topics, topic_name)
    seend = daemon(topic_name, items.config(boilerplate=["ok", "a(b"])).start(ready=False)
    assert seend.wait_exit() != 0
    assert 'items.boilerplate: pattern 2, "a(b": not a pattern of RE2: missing )' in seend.log(), seend.log()[
        -1000:
    ]

    seend = daemon(topic_name, items.config(boilerplate=BOILERPLATE), name="second").start()
    line = SIMPLIFIED[:20]
    items.send(item("n1", line))
    items.wait_at_rest(seend)
    items.send(item("n2", "<p>轉載自：某某新聞網</p>" + line + " #热门话题# #图书馆"))
    items.wait_at_rest(seend)
    assert items.published()["n2"]["found_by"] == "copy"
    seend.stop()
    del seend.config["items"]["boilerplate"]
    seend.start()
    assert 'items.boilerplate: the index of items was built with "(转' in refusal(
        seend
    ) and "--rebuild" in refusal(seend)
    seend.stop()


def as_an_earlier_version_wrote_it(generation):
    """The file of an index whose texts were read without folding."""
    lines = [
        line
        for line in generation.read_text().splitlines()
        if line.split()[0] not in ("folding_version", "segmentation", "boilerplate", "numbers", "tokens_min")
    ]
    generation.write_text(
        "".join(line.replace("features_version 5", "features_version 1") + "\n" for line in lines)
    )


def test_an_index_of_an_earlier_version_goes_on_until_it_is_rebuilt(topics, daemon, topic_name):
    items = Items(topics, topic_name)
    seend = daemon(topic_name, items.config()).start()
    wait_until(lambda: next(seend.store.glob("**/item-index-0/generation"), None), "the index is there")
    seend.stop()
    as_an_earlier_version_wrote_it(next(seend.store.glob("**/item-index-0/generation")))
    seend.start()
    items.send(item("n1", SIMPLIFIED, lang="zh"), item("n2", TRADITIONAL, lang="zh"))
    items.wait_at_rest(seend)
    assert "segmentation=dictionary" in seend.log() and "folding_version=0" in seend.log()
    assert items.published()["n2"]["group_id"] == "n2" and seen_similar(seend, SIMPLIFIED) == ["n1"]
    seend.kill9()
    seend.start()
    items.wait_at_rest(seend)
    assert seen_similar(seend, TRADITIONAL) == ["n2"]
    seend.stop()
    seend.config["items"]["segmentation"] = "trigrams"
    seend.start()
    assert (
        "items.segmentation: the index of items was built with dictionary, configured is trigrams"
        in refusal(seend)
    )
    seend.stop()
    del seend.config["items"]["segmentation"]
    seend.start("--rebuild")
    items.wait_at_rest(seend)
    assert seen_similar(seend, SIMPLIFIED) == ["n1", "n2"]
    assert items.published()["n2"]["group_id"] == "n1"
    seend.stop()


def test_an_index_of_the_lost_rules_must_be_rebuilt(topics, daemon, topic_name):
    items = Items(topics, topic_name)
    seend = daemon(topic_name, items.config()).start()
    items.send(item("n1", SIMPLIFIED, lang="zh"))
    items.wait_at_rest(seend)
    seend.stop()
    generation = next(seend.store.glob("**/item-index-0/generation"))
    generation.write_text(generation.read_text().replace("features_version 5", "features_version 4"))
    seend.start()
    assert "built with version 4 of the features of texts, and this program has version 5" in refusal(seend)
    assert "--rebuild" in refusal(seend)
    seend.stop()
    seend.start("--rebuild")
    items.wait_at_rest(seend)
    assert seen_similar(seend, SIMPLIFIED) == ["n1"]
    seend.stop()
