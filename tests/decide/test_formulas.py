"""The JSON of `zcser.decide.formulas`: whoever evaluates it as its docstring says comes to the totals and ranks of Python."""

import dataclasses
import json
import math
import random

from tests.decide.results import cell, codec, cost, latency, result
from tests.report.results import codec_record, realistic
from zcser.decide.figures import figures_of
from zcser.decide.formulas import as_json, profile_as_json
from zcser.decide.profiles import PROFILES
from zcser.decide.score import rank


def calculated(document, payload, profile):
    """The ranking by the written formulas, out of JSON alone: (rank, codec, total) and the codecs that are out."""
    infinite = {
        name: math.inf if profile[name] is None else profile[name] for name in ("bandwidth_in", "bandwidth_out")
    }
    writing, reads = profile["writer_weight"], profile["reads_per_write"]
    reading = profile["reader_weight"] * reads
    out_ns, in_ns = 1e9 / infinite["bandwidth_out"], 1e9 / infinite["bandwidth_in"]
    bracket = out_ns + reads * in_ns
    found, outs = [], set()
    for one in document["payloads"][payload]["candidates"]:
        steps = one["steps"] | (one["trusting"] if profile["unvalidated"] else {})
        sides = [(writing, profile["write"], "compress"), (reading, profile["read"], "decompress")]
        tasks = [
            [task] + ([] if profile["compression"] == "none" else [f"{packing}-{profile['compression']}"])
            for _, task, packing in sides
        ]
        weighed = zip((writing, reading), tasks, strict=True)
        taken = [[steps.get(task) for task in side] if weight else [] for weight, side in weighed]
        size = (
            one["wire_bytes"] if profile["compression"] == "none" else one["packed_bytes"].get(profile["compression"])
        )
        size = 0 if bracket == 0 else size
        if None in taken[0] + taken[1] or size is None:
            outs.add(one["codec"])
            continue
        totals, cores = {}, {}
        for end in ("value", "low", "high"):
            written, read = (sum(step[end] for step in side) for side in taken)
            cores[end] = written * writing + read * reading
            totals[end] = cores[end] / profile["cpu_share"] + size * bracket
        hop = size * (out_ns + (in_ns if reads > 0 else 0))
        slowest = max([step["p99_ns"] or 0 for step in taken[0] + taken[1]], default=0)
        bounds = [1e9 / cores["low"] * profile["cpu_share"]] if cores["low"] else []
        bounds += [infinite["bandwidth_out"] / size] if size else []
        bounds += [infinite["bandwidth_in"] / size / reads] if size and reads else []
        late = profile["p99_ns"] is not None and slowest + hop > profile["p99_ns"]
        if late or (
            profile["messages_per_s"] is not None and min(bounds, default=math.inf) < profile["messages_per_s"]
        ):
            outs.add(one["codec"])
            continue
        found.append((one["codec"], totals))
    ratio = document["ratio"]
    less = lambda a, b: a["high"] < b["low"] and b["value"] > a["value"] * ratio
    ranked = [(1 + sum(less(other, mine) for _, other in found), mine["value"], name) for name, mine in found]
    return [(place, name, total) for place, total, name in sorted(ranked)], outs


def random_profile(rng, tasks):
    """A named profile with every weight drawn anew, over what services have."""
    base = PROFILES[rng.choice(list(PROFILES))]
    return dataclasses.replace(
        base,
        write=rng.choice(["encode", "convert"]),
        read=rng.choice(tasks),
        writer_weight=rng.choice([0.0, 1.0, rng.random()]),
        reader_weight=rng.choice([0.0, 1.0, rng.random()]),
        reads_per_write=rng.choice([0.0, 10 ** rng.uniform(-3, 3)]),
        cpu_share=10 ** rng.uniform(-2, 2),
        bandwidth_in=rng.choice([math.inf, 10 ** rng.uniform(5, 10)]),
        bandwidth_out=rng.choice([math.inf, 10 ** rng.uniform(5, 10)]),
        messages_per_s=rng.choice([None, None, 10 ** rng.uniform(2, 6)]),
        p99_ns=rng.choice([None, None, 10 ** rng.uniform(3, 6)]),
        unvalidated=rng.random() < 0.5,
        compression=rng.choice(["none", "none", "none", "zstd"]),
    )


def compressed():
    """A run with compression, a codec that runs code of the sender, and one that another writes for."""
    cells = [*codec("a", 1_000, encode=(90, 100, 120), decode=(210, 220), compress_zstd=500, decompress_zstd=90),
             *codec("pickle", 900, encode=80, decode=150),
             cell("reader", "decode", cost(100, 104), encoded_by="a", latency=latency(100))]  # fmt: skip
    packed = dataclasses.replace(cells[0].size, wire_bytes=400)
    cells[2] = dataclasses.replace(cells[2], size=packed)
    records = (codec_record("a"), codec_record("pickle", trusted_only=True), codec_record("reader"))
    return dataclasses.replace(result(cells), codecs=records)


def test_random_profiles_come_to_the_same_last_digit_and_the_same_ranks():
    rng = random.Random(7)
    seen = set()
    for made in (realistic(), compressed()):
        document = json.loads(json.dumps(as_json(made), allow_nan=False))
        for payload, entry in document["payloads"].items():
            figures = figures_of(made, payload)
            for _ in range(60):
                profile = random_profile(rng, entry["tasks"])
                standings = rank(figures, profile)
                ranked = zip(standings.ranks, standings.scores, strict=True)
                mine = [(place, one.codec, one.total_ns.value) for place, one in ranked]
                written = json.loads(json.dumps(profile_as_json(profile), allow_nan=False))
                assert calculated(document, payload, written) == (mine, {out.codec for out in standings.outs}), profile
                seen |= {place for place, *_ in mine} | {out.reason.split()[0] for out in standings.outs}
    assert {1, 2, 3, "cannot", "misses", "carries"} <= seen


def test_profiles_are_written_with_null_for_what_is_infinite_or_not_asked():
    written = as_json(result([]))["profiles"]
    assert list(written) == ["proxy", "server", "log", "train", "custom"]
    assert written["custom"]["bandwidth_in"] is None
    assert written["proxy"]["read"] == "2"
    assert written["log"]["reads_per_write"] == 0.01
    assert written["server"]["p99_ns"] is None
