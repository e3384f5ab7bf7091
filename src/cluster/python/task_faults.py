"""Why a task failed, as the client receives it: the fault of an executor, or a code and arguments for `errors.ts`."""

from __future__ import annotations

import json

from stdio_frames import Record

FAULT_PREFIX = "factorloom-fault "


def fault(record: Record) -> RuntimeError:
    """A fault as an exception that unpickles without our code."""
    return RuntimeError(FAULT_PREFIX + json.dumps(record))


def coded(code: str, *args: object) -> RuntimeError:
    """A fault whose text `errors.ts` writes, from the code and the arguments."""
    return fault({"code": code, "args": list(args)})


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
