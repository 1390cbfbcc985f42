"""Which nodes of a graph lie on a cycle: Tarjan's strongly connected components, in linear time and without recursion.

Schemas come from files too, and a file may name thousands of records, each inside the next.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

__all__ = ["on_cycles"]


def on_cycles(graph: Mapping[str, Collection[str]]) -> frozenset[str]:
    """The nodes that can be reached from themselves.

    Parameters
    ----------
    graph
        Of each node, where its edges lead; to nodes of the graph.
    """
    order: dict[str, int] = {}
    low: dict[str, int] = {}  # the least order that is known to be reached, of a node that is still open
    open_: list[str] = []
    found: set[str] = set()
    for start in graph:
        if start in order:
            continue
        path = [(start, iter(graph[start]))]
        order[start] = low[start] = len(order)
        open_.append(start)
        while path:
            node, edges = path[-1]
            for target in edges:
                if target not in order:
                    path.append((target, iter(graph[target])))
                    order[target] = low[target] = len(order)
                    open_.append(target)
                    break
                if target in low:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    component = [open_.pop()]
                    while component[-1] != node:
                        component.append(open_.pop())
                    for member in component:
                        del low[member]
                    if len(component) > 1 or node in graph[node]:
                        found.update(component)
    return frozenset(found)
