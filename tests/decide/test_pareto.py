"""The Pareto front: beaten is who is shown to be, and a tie beats nobody."""

from hypothesis import given
from hypothesis import strategies as st

from tests.decide.results import codec, result, sized
from zcser.decide.figures import figures_of
from zcser.decide.pareto import pareto


def front(cells, **rest):
    return pareto(figures_of(result(cells), "one"), **rest)


def test_who_is_no_better_anywhere_is_beaten():
    cells = [*codec("small", 100, encode=500, decode=500), *codec("fast", 900, encode=100, decode=100),
             *codec("both", 500, encode=300, decode=300), *codec("worse", 950, encode=101, decode=120)]  # fmt: skip
    found = front(cells)
    assert found.front == ("small", "fast", "both")
    assert front(cells, axes=("encode", "decode")).front == ("fast",)


def test_tie_beats_nobody_and_a_missing_figure_is_no_place_on_the_front():
    cells = [*codec("a", 100, encode=(100, 120), decode=(100, 120)), *codec("b", 101, encode=(110, 130), decode=(110, 130)),
             sized("mute", 1, 1)]  # fmt: skip
    found = front(cells)
    assert found.front == ("a", "b")
    assert found.lacking == ("mute",)


processes = st.lists(st.floats(50, 200), min_size=2, max_size=3).map(tuple)


@given(st.lists(st.tuples(processes, processes, st.integers(50, 200)), min_size=1, max_size=6))
def test_front_is_never_empty_and_who_is_behind_has_somebody_below_on_every_axis(figures):
    cells = [cell for index, (encode, decode, size) in enumerate(figures)
             for cell in codec(f"c{index}", size, encode=encode, decode=decode)]  # fmt: skip
    found = front(cells)
    assert found.front
    for one in found.points:
        if one.codec not in found.front:
            assert any(
                all(mine.value <= its.value for mine, its in zip(other.values, one.values, strict=True))
                and any(mine.high < its.low for mine, its in zip(other.values, one.values, strict=True))
                for other in found.points
            )
