"""The exact near-duplicates: all pairs whose sets of word 3-shingles have a Jaccard similarity of at least
THRESHOLD.

Uses only the standard library, and no code that is measured. Words are runs of \\w in lower case, with the
signs that touch them. In Chinese, each character is a word. Prefix filter (Chaudhuri, Ganti, Kaushik, "A
Primitive Operator for Similarity Joins", ICDE 2006; Bayardo, Ma, Srikant, "Scaling Up All Pairs Similarity
Search", WWW 2007): sets x and y with J >= t share at least t |x| elements. Take the elements in one order,
rarest first. Then x and y share one of the first |x| - ceil(t |x|) + 1 elements of each. Candidates found in
this way are compared exactly.
`all_pairs` compares every pair, and tests compare its result with that of `near_pairs`."""

import collections
import math
import re

THRESHOLD = 0.8
SHINGLE = 3
# A sign that touches a word is part of it: C++, C#, +1, -1, $5, 2%.
BEFORE_WORD, AFTER_WORD = r"(?:[$€£¥]|(?<!\w)[-+](?=\d))?", r"(?:[+%]+|(?<=\b[a-z])#)?"
WORD = re.compile(BEFORE_WORD + r"\w+" + AFTER_WORD)
CHINESE_WORD = re.compile("[\u3400-\u9fff]|" + BEFORE_WORD + "[^\\W\u3400-\u9fff]+" + AFTER_WORD)

DIGITS = re.compile(r"\d+")
THOUSANDS = re.compile(r"(?<=\d)[,.\s](?=\d{3}(?!\d))")
LINK = re.compile(r"(?:\b[a-zA-Z]\w*://|\bwww\.)[^\s<>\"\u0080-\U0010ffff]*")


def words(item):
    pattern = CHINESE_WORD if item["lang"].startswith("zh") else WORD
    return pattern.findall((item["title"] + "\n" + item["text"]).lower())


def numbers(item):
    """How often each number comes in an item: digits without leading zeros; 1,000 is 1000. Links have none."""
    text = LINK.sub(" ", item["title"] + "\n" + item["text"])
    return collections.Counter(digits.lstrip("0") for digits in DIGITS.findall(THOUSANDS.sub("", text)))


def with_equal_numbers(pairs, items):
    """Those of `pairs` whose texts have the same numbers, each as often."""
    known = {i: numbers(items[i]) for pair in pairs for i in pair}
    return {(i, j): value for (i, j), value in pairs.items() if known[i] == known[j]}


def shingles(tokens):
    """Word 3-shingles. Fewer than three words make one shingle of all words."""
    if len(tokens) < SHINGLE:
        return [tuple(tokens)] if tokens else []
    return zip(*(tokens[i:] for i in range(SHINGLE)))


def shingle_sets(items):
    """A set of numbers for each item. Equal shingles have equal numbers. Rarer shingles have smaller
    numbers."""
    known = {}
    sets = [{known.setdefault(shingle, len(known)) for shingle in shingles(words(item))} for item in items]
    counts = [0] * len(known)
    for found in sets:
        for shingle in found:
            counts[shingle] += 1
    rank = [0] * len(known)
    for number, shingle in enumerate(sorted(range(len(known)), key=counts.__getitem__)):
        rank[shingle] = number
    return [frozenset(rank[shingle] for shingle in found) for found in sets]


def jaccard(a, b):
    both = len(a & b)
    return both / (len(a) + len(b) - both) if both else 0.0


def near_pairs(sets, threshold=THRESHOLD):
    """{(i, j): Jaccard}, i < j, of all pairs with at least `threshold`. Empty sets are similar to no set."""
    lists, pairs = collections.defaultdict(list), {}
    for i in sorted(range(len(sets)), key=lambda i: len(sets[i])):
        size = len(sets[i])
        if size == 0:
            continue
        need = least_common(size, threshold)
        smallest = need  # J <= |smaller| / |larger|
        seen = set()
        for element in sorted(sets[i])[: size - need + 1]:
            rows = lists[element]
            for j in reversed(rows):  # the largest first
                if len(sets[j]) < smallest:
                    break
                if j not in seen:
                    seen.add(j)
                    similarity = jaccard(sets[i], sets[j])
                    if similarity >= threshold:
                        pairs[min(i, j), max(i, j)] = similarity
            rows.append(i)
    return pairs


def least_common(size, threshold):
    """The least number of elements that a set of `size` shares with any similar set. A rounding error must
    not raise the number."""
    return max(1, math.ceil(threshold * size - 1e-9))


def all_pairs(sets, threshold=THRESHOLD):
    """The same result as near_pairs, by a comparison of every pair."""
    found = ((i, j, jaccard(sets[i], sets[j])) for i in range(len(sets)) for j in range(i + 1, len(sets)))
    return {(i, j): similarity for i, j, similarity in found if similarity >= threshold}
