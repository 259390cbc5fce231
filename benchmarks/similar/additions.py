"""Measures how many reposts with additions are found, and which pairs of a file contain one another.

    additions.py --program build/release/bench_similar --items build/similar/long.jsonl --folder /tmp/additions

A repost is a text of at least WORDS_MIN words with words of other texts behind it. Half of the reposts come
before their text. `edited`: one word in sixty is another one, too. The truth of the second part is exact: sets
of word 3-shingles, as truth.py makes them."""

import argparse
import collections
import json
import math
import pathlib
import random

import descriptions
import measure
import truth

WORDS_MIN = 80
ADDED = (10, 25, 50, 75, 100)  # percent of the text's words
SIZE_MIN, SHARE_MIN, WORDS_A_NUMBER = 64, 0.4, 8  # as the daemon's
RUN = "minhash/sketch/3"


def cut(text, chinese, count):
    """The first `count` words of a text."""
    found = [match.end() for match in (truth.CHINESE_WORD if chinese else truth.WORD).finditer(text.lower())]
    return text[: found[min(count, len(found)) - 1]] if found else "", min(count, len(found))


def addition(pool, chinese, count, chosen):
    parts = []
    while count > 0:
        text, words = cut(chosen.choice(pool)["text"], chinese, count)
        parts.append(text)
        count -= max(1, words)
    return "\n".join(parts)


def edited(text, chinese, chosen):
    words = list(text) if chinese else text.split(" ")
    for _ in range(max(1, len(words) // 60)):
        words[chosen.randrange(len(words))] = "呃" if chinese else f"x{chosen.randrange(1000)}"
    return ("" if chinese else " ").join(words)


def with_reposts(items, reposts):
    """Items in a random order, and {(kind, added): [(place of the text, place of the repost)]}."""
    chosen = random.Random(5)
    items = items[:]
    chosen.shuffle(items)
    chinese = items[0]["lang"].startswith("zh")
    pool, base = items[: len(items) // 4], items[len(items) // 4 :]
    rows, pairs = base[:], collections.defaultdict(list)
    long_enough = [i for i, item in enumerate(base) if len(truth.words(item)) >= WORDS_MIN]
    for i in long_enough[:reposts]:
        for added in ADDED:
            for kind in ("unchanged", "edited"):
                item = base[i]
                text = item["text"]
                if kind == "edited":
                    text = edited(text, chinese, chosen)
                text += "\n" + addition(pool, chinese, len(truth.words(item)) * added // 100, chosen)
                pairs[kind, added].append((i, len(rows)))
                rows.append({**item, "item_id": f"repost-{len(rows)}", "text": text})
    order = list(range(len(rows)))
    chosen.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    moved = {of: [(place[a], place[b]) for a, b in found] for of, found in pairs.items()}
    return [rows[old] for old in order], moved


def contained_pairs(items, threshold):
    """{(i, j): Jaccard}: all pairs by the rule. Prefix filter, as in truth.py: of the smaller set's rarest
    shingles one is in the larger set."""
    sets, numbers = truth.shingle_sets(items), [truth.numbers(item) for item in items]
    words = [len(truth.words(item)) for item in items]
    lists, pairs = collections.defaultdict(list), {}
    for i in sorted(range(len(sets)), key=lambda i: -len(sets[i])):
        elements = sorted(sets[i])
        size = len(elements)
        if size < SIZE_MIN:
            break
        need = math.ceil(threshold * size - 1e-9)
        for j in {j for element in elements[: size - need + 1] for j in lists[element]}:
            common = len(sets[i] & sets[j])
            if common < need or size < SHARE_MIN * len(sets[j]):
                continue
            missing = (numbers[i] - numbers[j]).total()
            further = len(numbers[j].keys() - numbers[i].keys())
            fits = missing == 0 or 10 * missing < numbers[i].total()
            fits = fits and (further == 0 or WORDS_A_NUMBER * further <= words[j] - words[i])
            if fits:
                pairs[min(i, j), max(i, j)] = truth.jaccard(sets[i], sets[j])
        for element in elements:
            lists[element].append(i)
    return pairs


def found_by(program, path, folder, percent):
    (run,), features = measure.runs(
        program, path, [RUN], folder, arguments=[f"containment_min_percent={percent}"]
    )
    figures = run.figures
    count = figures["items"]
    print(
        f"{path.name}, {percent}%: {figures['bytes'] / count:.0f} bytes an item, "
        f"{figures['candidates'] / count:.2f} candidates, features {1e6 * features['seconds'] / count:.1f} us, "
        f"decision {1e6 * figures['apply_s'] / count:.1f} us, {len(run.similar)} pairs, "
        f"{figures['grouped']} items in another's group"
    )
    return run.similar


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--items", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--reposts", type=int, default=500)
    parser.add_argument("--percent", type=int, default=90)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    items = descriptions.read(given.items)

    rows, reposts = with_reposts(items, given.reposts)
    path = given.folder / "reposts.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    for percent in (0, given.percent):
        similar = found_by(given.program, path, given.folder / "index", percent)
        for of, pairs in sorted(reposts.items()):
            found = sum((min(pair), max(pair)) in similar for pair in pairs)
            print(f"  {of[0]}, {of[1]}% added: {found / len(pairs):.1%} of {len(pairs)}")

    without = found_by(given.program, given.items, given.folder / "index", 0)
    found = found_by(given.program, given.items, given.folder / "index", given.percent) - without
    pairs = contained_pairs(items, given.percent / 100)
    right = sum(pair in pairs for pair in found)
    wanted = {pair for pair, similarity in pairs.items() if similarity < truth.THRESHOLD}
    print(f"  further pairs: {len(found)} found, {right} right")
    print(f"  contained, with a Jaccard similarity below 0.8: {len(found & wanted)} of {len(wanted)} found")


if __name__ == "__main__":
    main()
