"""How far SimHash alone goes in any implementation. This module computes fingerprints by the textbook,
without code of `seend`.

There are three kinds of tokens: words by TF-IDF, words flat (each word of a text counts once), word
3-shingles flat. Sources: Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002;
Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007."""

import collections
import hashlib
import math

import numpy

import truth

KINDS = ("words by TF-IDF", "words, flat", "3-shingles, flat")


def simhash(weights):
    """`weights`: {token: weight}."""
    hashes = b"".join(hashlib.blake2b(token.encode(), digest_size=8).digest() for token in weights)
    bits = numpy.unpackbits(numpy.frombuffer(hashes, numpy.uint8).reshape(-1, 8), axis=1).astype(
        numpy.float64
    )
    sums = numpy.fromiter(weights.values(), numpy.float64, len(weights)) @ (2 * bits - 1)
    return int.from_bytes(numpy.packbits(sums > 0).tobytes(), "big")


def fingerprints(items, wanted):
    """{position: (a fingerprint for each of KINDS)} for the positions `wanted`. Document frequencies are
    those of all `items`."""
    tokens = [truth.words(item) for item in items]
    documents = collections.Counter(word for found in tokens for word in set(found))
    idf = {word: math.log(len(items) / count) for word, count in documents.items()}
    return {
        i: (
            simhash({word: times * idf[word] for word, times in collections.Counter(tokens[i]).items()}),
            simhash(dict.fromkeys(tokens[i], 1)),
            simhash(dict.fromkeys((" ".join(shingle) for shingle in truth.shingles(tokens[i])), 1)),
        )
        for i in wanted
    }


def distances(items, pairs):
    """{kind: [pairs at 0 bits, at 1, ... at 64]}."""
    prints = fingerprints(items, sorted({i for pair in pairs for i in pair}))
    out = {kind: [0] * 65 for kind in KINDS}
    for i, j in pairs:
        for kind, a, b in zip(KINDS, prints[i], prints[j]):
            out[kind][(a ^ b).bit_count()] += 1
    return out
