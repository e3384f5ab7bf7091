"""Why a task failed, as the client receives it: the fault of an executor, or a function of `errors.ts` and its arguments."""

from __future__ import annotations

import json
from typing import Any

from stdio_frames import Record

FAULT_PREFIX = "factorloom-fault "
# Dask replaces an exception whose text is longer than 10,000 characters.
FAULT_LENGTH_MAX = 9500


def fault(record: Record) -> RuntimeError:
    """A fault as an exception that unpickles without our code. Long texts keep their beginning and their end."""
    text = json.dumps(record)
    # JSON has up to twelve characters for one.
    longest = FAULT_LENGTH_MAX
    while len(text) > FAULT_LENGTH_MAX and longest > 0:
        longest //= 2
        text = json.dumps(shortened(record, longest))
    return RuntimeError(FAULT_PREFIX + text)


def shortened(value: Any, longest: int) -> Any:
    """The value with all its texts cut to about that length."""
    if isinstance(value, dict):
        return {name: shortened(each, longest) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [shortened(each, longest) for each in value]
    if not isinstance(value, str) or len(value) <= longest:
        return value
    half = longest // 2
    return f"{value[:half]} ... {value[len(value) - half:]}"


def named(error: str, *args: object) -> RuntimeError:
    """The error that a function of `errors.ts` makes, by the function's name and its arguments."""
    return fault({"error": error, "args": list(args)})


def fault_in(error: RuntimeError) -> Record:
    """The record of a raised fault."""
    text = str(error)
    is_fault = text.startswith(FAULT_PREFIX)
    return json.loads(text.removeprefix(FAULT_PREFIX)) if is_fault else internal(text)


def internal(problem: str) -> Record:
    return {"errorClass": "internal", "code": "E900", "problem": problem, "remedy": ""}


def raise_fault(answer: Record) -> None:
    if answer["kind"] == "fault":
        raise fault({name: answer[name] for name in ("errorClass", "code", "problem", "remedy")})
