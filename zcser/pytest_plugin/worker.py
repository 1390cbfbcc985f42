"""The process that measures one benchmark: ``python -m zcser.pytest_plugin.worker``, started by `zcser.pytest_plugin.fresh`.

It is prepared as the workers of ``zcser compare`` are (`zcser.measure.worker`): collector off except while timing, malloc in
the state after a large block was freed. It takes one `Order` and gives one `Answer`.
"""

from __future__ import annotations

import gc
import pickle

from zcser.measure import job
from zcser.measure.worker import settle_malloc, take_order
from zcser.pytest_plugin.tasks import Answer, Order, Task, count_task, time_task

__all__ = ["main"]


def main() -> None:
    """Carry out one order."""
    order, out = take_order()
    gc.disable()
    settle_malloc()
    job.write(out, _answer(order))


def _answer(order: Order) -> Answer:
    try:
        task: Task = pickle.loads(order.pickled)
    except Exception as error:  # noqa: BLE001 - loading imports the user's module, which may raise anything
        return Answer(reason=f"it cannot be loaded in another process: {_shown(error)}")
    try:
        if order.count:
            return Answer(allocations=count_task(task, order.preset))
        return Answer(sample=time_task(task, order.preset, order.most_kept))
    except Exception as error:  # noqa: BLE001 - the user's callable may raise anything
        return Answer(reason=f"it raises in a fresh process: {_shown(error)}")


def _shown(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}".removesuffix(": ")[:200]


if __name__ == "__main__":
    main()
