"""A function of the user's, named as ``module:function``, called without ever blocking the event loop."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import sys
import threading
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

from evaltui.core.errors import EvaltuiError


def source_of(name: str, folder: Path) -> Path | None:
    """The file in which the function's module is written, found without importing it; None where there is no file."""
    module = name.partition(":")[0]
    beside = folder.joinpath(*module.split("."))
    for path in (beside.with_suffix(".py"), beside / "__init__.py"):
        if path.is_file():
            return path
    try:
        found = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return None
    if found is None or found.origin is None:
        return None
    root = Path(found.origin)
    inner = root.parent.joinpath(*module.split(".")[1:]) if "." in module else root
    return next((path for path in (inner, inner.with_suffix(".py"), inner / "__init__.py") if path.is_file()), None)


def load(name: str, folder: Path) -> Callable[..., Any]:
    """Import ``module:function``, modules in ``folder`` before others.

    Raises:
        EvaltuiError: there is no such module or function, or importing it fails; the sentence says which.
    """
    module, _, path = name.partition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:
        raise EvaltuiError(f"function {name}: {module} cannot be imported: {_said(error)}") from None
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise EvaltuiError(f"function {name}: {module} has no {path}")
    if not callable(found):
        raise EvaltuiError(f"function {name}: {path} in {module} is not a function")
    return found  # type: ignore[no-any-return]


async def call(function: Callable[..., Any], *args: object) -> Any:
    """The function's result: coroutines run in one loop of their own, an ordinary function in a thread of its own.

    So one that blocks holds up others of its kind and nothing else, and its caller's deadline holds. Cancelling the
    call gives up on it at once; Python cannot stop a thread, so it goes on until it returns by itself, or until the
    process ends. What ends a program or a task (SystemExit, CancelledError and their like) comes as a RuntimeError.
    """
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        return await _in_loop(lambda: function(*args))
    result = await _in_thread(lambda: function(*args))
    if not inspect.isawaitable(result):
        return result
    return await _in_loop(lambda: result)


async def _in_loop(begin: Callable[[], Awaitable[Any]]) -> Any:
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_guarded(begin), _loop_of_functions()))


async def _guarded(begin: Callable[[], Awaitable[Any]]) -> Any:
    task = asyncio.current_task()
    assert task is not None
    try:
        return await begin()
    except Exception:
        raise
    except BaseException as raised:
        if isinstance(raised, asyncio.CancelledError) and task.cancelling():
            raise
        raise RuntimeError(_said(raised)) from None


@cache
def _loop_of_functions() -> asyncio.AbstractEventLoop:
    """One loop for all coroutines of the user's, so that what they share between calls belongs to one loop."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="evaltui-functions", daemon=True).start()
    return loop


async def _in_thread(work: Callable[[], Any]) -> Any:
    """Run ``work`` in a daemon thread: one that hangs must not keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)

    def run() -> None:
        result: Any = None
        error: Exception | None = None
        try:
            result = work()
        except StopIteration:
            # A future cannot hold it.
            error = RuntimeError("StopIteration")
        except BaseException as raised:
            error = raised if isinstance(raised, Exception) else RuntimeError(_said(raised))
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, daemon=True).start()
    return await future


def _said(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
