"""Profiles drawn at random, and what Python makes of them: what the page's scripts are held to."""

import dataclasses
import math
import random

from zcser.decide.figures import figures_of
from zcser.decide.profiles import PROFILES
from zcser.decide.score import rank
from zcser.decide.verdict import sentence


def random_profiles(count, reads, seed=7):
    rng = random.Random(seed)
    names = list(PROFILES)
    for number in range(count):
        yield dataclasses.replace(
            PROFILES[names[number % len(names)]],
            read=rng.choice(reads),
            writer_weight=rng.choice([0.0, 1.0, rng.random()]),
            reader_weight=rng.choice([1.0, rng.random()]),
            reads_per_write=10 ** rng.uniform(-3, 3),
            cpu_share=10 ** rng.uniform(-2, 2),
            bandwidth_in=rng.choice([math.inf, 10 ** rng.uniform(5, 11)]),
            bandwidth_out=rng.choice([math.inf, 10 ** rng.uniform(5, 11)]),
            messages_per_s=rng.choice([None, 10 ** rng.uniform(2, 5)]),
            p99_ns=rng.choice([None, 10 ** rng.uniform(4, 7)]),
            unvalidated=rng.random() < 0.5,
        )


def standings_of(result, payload, profile):
    """Ranks in order, the codecs that are out, and the sentence."""
    found = rank(figures_of(result, payload), profile)
    ranked = [[place, one.codec, one.total_ns.value] for place, one in zip(found.ranks, found.scores, strict=True)]
    # On the page the reasons come after the sentence.
    words = sentence(found).replace("the reasons are above", "the reasons are below")
    return {"ranked": ranked, "outs": sorted(one.codec for one in found.outs), "sentence": words}
