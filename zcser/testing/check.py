"""`check_codec`: every law, with every schema that a codec carries."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from zcser import registry
from zcser.core.codec import Codec
from zcser.core.errors import DecodeError, SchemaError
from zcser.core.options import Options
from zcser.schema.from_python import schema_of
from zcser.schema.model import Schema
from zcser.testing import conduct, copies, fidelity, hostile, results, setup, writing
from zcser.testing.cases import CASES
from zcser.testing.report import CodecCheckError, Finding, Report
from zcser.testing.subject import Subject

__all__ = ["LAWS", "check_codec"]


class Law(NamedTuple):
    """A name, and what yields the faults of a codec with one schema.

    `hostile` laws read bytes that nobody vouches for; those held `once` bring schemas of their own; those held `first` need
    no messages that come back, of which all others are about.
    """

    name: str
    faults: Callable[[Subject], Iterator[str]]
    hostile: bool = False
    once: bool = False
    first: bool = False


LAWS = (
    # First, since whatever else is called may do the set-up.
    Law("set-up", setup.set_up_is_not_on_the_clock, first=True),
    Law("info", conduct.info_is_true, first=True),
    Law("plain values", fidelity.plain_values_are_carried, first=True),
    Law("types of results", results.results_have_the_types, first=True),
    Law("fidelity", fidelity.values_come_back, first=True),
    Law("every way of reading", fidelity.every_way_reads_alike),
    Law("results of one's own", results.results_are_the_callers_own),
    Law("changed values", results.a_changed_value_is_encoded_anew),
    Law("decoded values of one's own", results.decoded_values_are_not_shared),
    Law("aliases", copies.claims_of_aliases_hold),
    Law("copies", copies.copies_are_the_callers_own),
    Law("lifetime", copies.what_aliases_keeps_its_message),
    Law("encode_into", writing.encode_into_writes_all_or_nothing),
    Law("segments", writing.segments_come_back),
    Law("big tensors", writing.big_tensors_are_not_copied, once=True),
    Law("immutable", conduct.it_is_immutable_and_pickles),
    Law("threads", conduct.it_can_be_shared),
    Law("size of messages", conduct.messages_are_bounded),
    Law("limits", conduct.limits_hold, once=True),
    Law("options", conduct.options_are_kept),
    Law("unknown fields", conduct.unknown_fields_are_dropped_or_refused, once=True),
    Law("no buffer", hostile.what_is_no_buffer_is_refused),
    Law("cut messages", hostile.cut_messages_are_refused),
    Law("hostile bytes", hostile.hostile_bytes_are_refused, hostile=True),
    Law("nesting", hostile.nesting_without_end_is_refused, hostile=True),
    Law("memory", hostile.much_is_not_allocated, hostile=True),
)
"""In the order in which they are held."""

_SHOWN = 3
"""Findings of one law with one schema."""


def check_codec(
    codec: type[Codec[Any]] | Codec[Any] | str,
    *,
    schemas: Mapping[str, Any] | None = None,
    only: Collection[str] | None = None,
    writer: type[Codec[Any]] | str | None = None,
    seed: int = 0,
    set_up_calls: int = 200,
    without: Collection[str] = (),
    raises: bool = True,
) -> Report:
    """Hold a codec to everything that zcser promises of every codec.

    Parameters
    ----------
    codec
        A class, or the name by which one is registered: checked with one schema for each kind, as far as it carries
        them. An object: checked with its own schema and options alone.
    schemas
        More schemas by name, or what they can be made from, that the codec must carry.
    only
        Names of the schemas to hold it to, where a quicker check is wanted: of `zcser.testing.cases.CASES` and `schemas`.
    writer
        What writes the messages of a codec that only reads; by default a registered codec of its wire.
    seed
        Of the values and the bytes; the same seed gives the same check.
    set_up_calls
        How many calls of functions the first call of a new codec may make besides those of every call.
    without
        Names of laws that it is not held to, which the report says: a format of fixed places, for instance, has no
        "unknown fields".
    raises
        False: the report is returned whatever was found.

    Returns
    -------
    Report
        Of a codec without findings; ``print(report)`` says what was checked, and which schemas it refused.

    Raises
    ------
    CodecCheckError
        An AssertionError that has the report, which is readable, as its message.
    TypeError
        `codec` is no codec, or one that only reads has no writer.
    ValueError
        A name in `without` or `only` is unknown.

    Notes
    -----
    A few seconds. Time and memory that hostile bytes may take are bounded generously; no speed is judged. A codec with
    ``trusted_only`` is given no bytes but its own.
    """
    unknown = set(without) - {law.name for law in LAWS}
    if unknown:
        raise ValueError(f"no law is named {min(unknown)!r}; known: {', '.join(law.name for law in LAWS)}")
    subjects, refused = _subjects(codec, schemas or {}, only, writer, {"seed": seed, "set_up_calls": set_up_calls})
    findings: list[Finding] = []
    checked: dict[str, int] = {}
    skipped: dict[str, str] = {}
    name = subjects[0].codec.name if subjects else _class_of(codec).name
    if not subjects:
        findings.append(Finding("schemas", "all", f"every schema is refused: {next(iter(refused.values()), '')}"))
    findings += [
        Finding("schemas", case, f"a schema that must be carried is refused: {why}")
        for case, why in refused.items()
        if case in (schemas or {})
    ]
    for law in LAWS if subjects else ():
        if law.hostile and subjects[0].codec.info.trusted_only:
            skipped[law.name] = "the codec is for trusted bytes alone"
            continue
        if law.name in without:
            skipped[law.name] = "left out on request"
            continue
        held = subjects if law.first else [subject for subject in subjects if subject.messages]
        held = held[:1] if law.once else held
        for subject in held:
            findings += _held(law, subject)
        checked[law.name] = len(held)
    if subjects and subjects[0].codec.info.trusted_only and subjects[0].messages:
        findings += _trusts(subjects[0])
    report = Report(name, tuple(findings), checked, refused, skipped, _notes(subjects))
    if raises and not report.ok:
        raise CodecCheckError(report)
    return report


def _held(law: Law, subject: Subject) -> list[Finding]:
    found: list[Finding] = []
    try:
        for message in law.faults(subject):
            finding = Finding(law.name, subject.case, message)
            if finding not in found:
                found.append(finding)
            if len(found) == _SHOWN:
                break
    except Exception as error:  # noqa: BLE001 - of the codec: nothing that it may raise is let through
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        found.append(Finding(law.name, subject.case, f"{type(error).__name__}: {error} (in {place})"))
    return found


def _notes(subjects: Sequence[Subject]) -> tuple[str, ...]:
    for subject in subjects:
        try:
            if hostile.what_is_behind_is_passed_over(subject):
                return (
                    f"bytes behind a message are passed over [{subject.case}]; other codecs refuse them, if they can",
                )
        except Exception:  # noqa: BLE001, S112 - a matter of the laws
            continue
    return ()


def _class_of(codec: Any) -> type[Codec[Any]]:
    if isinstance(codec, str):
        return registry.codec_class(codec)
    cls = codec if isinstance(codec, type) else type(codec)
    if not issubclass(cls, Codec):
        raise TypeError(f"check_codec() takes a subclass of zcser.Codec, one of its objects or a name, not {codec!r}")
    return cls


def _subjects(
    codec: Any,
    schemas: Mapping[str, Any],
    only: Collection[str] | None,
    writer: type[Codec[Any]] | str | None,
    bounds: dict[str, int],
) -> tuple[list[Subject], dict[str, str]]:
    cls = _class_of(codec)
    writes = _writer_of(cls, writer)
    if isinstance(codec, Codec):
        cases: dict[str, Schema] = {"its own": codec.schema}
        options = codec.options
    else:
        cases = CASES | {name: schema_of(source) for name, source in schemas.items()}
        unknown = set(only or ()) - set(cases)
        if unknown:
            raise ValueError(f"no schemas are named {', '.join(sorted(unknown))}; known: {', '.join(cases)}")
        cases = {name: schema for name, schema in cases.items() if only is None or name in only}
        options = Options(allow_untrusted_code=cls.trusted_only)
    subjects, refused = [], {}
    for case, schema in cases.items():
        try:
            subjects.append(Subject(cls, case, schema, options, writes, **bounds))
        except SchemaError as error:
            refused[case] = str(error)
    return subjects, refused


def _writer_of(cls: type[Codec[Any]], writer: type[Codec[Any]] | str | None) -> type[Codec[Any]]:
    if writer is not None:
        return _class_of(writer)
    if "encode" in cls.operations():
        return cls
    for name, info in registry.available().items():
        if getattr(info, "wire", None) == cls.wire and "encode" in getattr(info, "operations", ()):
            return registry.codec_class(name)
    raise TypeError(f"codec {cls.name!r} only reads: say by writer= which codec writes the wire {cls.wire!r}")


def _trusts(subject: Subject) -> list[Finding]:
    """A codec for trusted bytes reads none until it is told to."""
    try:
        subject.made(allow_untrusted_code=False).decode(subject.messages[0].data)
    except DecodeError:
        return []
    return [Finding("trusted bytes", subject.case, "trusted_only decodes without allow_untrusted_code=True")]
