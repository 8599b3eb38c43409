"""Commands, functions and recordings as endpoints: real processes, real modules, real files."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import textwrap
import time
from pathlib import Path

import pytest

from evaltui.core.errors import EvaltuiError, InputError
from evaltui.core.records import Completion, Failure, Usage
from evaltui.core.status import Status
from evaltui.outside.commands import Command
from evaltui.providers.command import CommandProvider, LineProvider
from evaltui.providers.function import FunctionProvider
from evaltui.providers.replay import ReplayProvider

SECRET = "sk-test-CANARY0123456789"


def script(folder: Path, text: str, name: str = "agent.py") -> Command:
    (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return Command((sys.executable, name), folder)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


async def gone(pid: int) -> bool:
    """Whether a process ends within two seconds."""
    for _ in range(100):
        if not alive(pid):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_text_goes_in_and_text_comes_out(tmp_path, ask):
    command = script(tmp_path, "import sys; print(sys.stdin.read().upper())")
    completion = await CommandProvider(command, as_json=False).complete(ask("what is ä?"))
    assert (completion.text, completion.status) == ("WHAT IS Ä?", Status.OK)


async def test_a_document_goes_in_and_a_document_comes_out(tmp_path, ask):
    command = script(
        tmp_path,
        """
        import json, sys
        asked = json.load(sys.stdin)
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        print(json.dumps({"text": json.dumps(asked), "finish_reason": "length", "model": "agent-1", "usage": usage}))
        """,
    )
    request = ask("2+2?", arm="candidate", repeat=3, item="i9", attempt=2, temperature=0.5, seed=7)
    completion = await CommandProvider(command, as_json=True).complete(request)
    assert (completion.status, completion.model) == (Status.TRUNCATED, "agent-1")
    assert completion.usage == Usage(5, 2)
    assert json.loads(completion.text) == {
        "prompt": "2+2?",
        "messages": [{"role": "user", "content": "2+2?"}],
        "model": "m",
        "temperature": 0.5,
        "seed": 7,
        "cell": {"arm": "candidate", "repeat": 3, "item": "i9", "attempt": 2},
    }


@pytest.mark.parametrize(
    ("text", "as_json", "status", "retry", "said"),
    [
        ("import sys; sys.exit('out of luck')", False, Status.SERVER_ERROR, True, "exit code 1: out of luck"),
        ("import os; os.kill(os.getpid(), 9)", False, Status.SERVER_ERROR, True, "SIGKILL"),
        ("print('not json')", True, Status.SERVER_ERROR, True, "did not answer JSON: not json"),
        ("print('[1]')", True, Status.SERVER_ERROR, False, "neither a text nor a table"),
        ("print('{}')", True, Status.SERVER_ERROR, False, "a table without a text"),
        ("""print('{"error": "busy", "retry": true}')""", True, Status.SERVER_ERROR, True, "busy"),
    ],
)
async def test_a_command_that_fails_says_why(tmp_path, ask, text, as_json, status, retry, said):
    failure = await CommandProvider(script(tmp_path, text), as_json=as_json).complete(ask())
    assert isinstance(failure, Failure)
    assert (failure.status, failure.retry) == (status, retry)
    assert said in failure.message


@pytest.mark.parametrize("text", ["pass", "print()", "import sys; sys.stdout.close()"])
async def test_no_output_is_an_empty_answer(tmp_path, ask, text):
    completion = await CommandProvider(script(tmp_path, text), as_json=False).complete(ask("x" * 300_000))
    assert completion.status is Status.EMPTY


async def test_a_program_that_is_not_there_pauses_the_study(tmp_path, ask):
    failure = await CommandProvider(Command(("no-such-program",), tmp_path), as_json=False).complete(ask())
    assert (failure.status, failure.pause) == (Status.REQUEST_ERROR, True)
    assert "no-such-program cannot be started: No such file or directory" in failure.message


async def test_a_cut_off_call_leaves_no_process_of_its_group_behind(tmp_path, ask):
    """A grandchild holds the output open, also after the command itself has ended."""
    for number, wait in enumerate(("child.wait()", "pass")):
        command = script(
            tmp_path,
            f"""
            import subprocess, sys
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            open("pid{number}", "w").write(str(child.pid))
            {wait}
            """,
        )
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):
                await CommandProvider(command, as_json=False).complete(ask())
        assert await gone(int((tmp_path / f"pid{number}").read_text()))


async def test_what_a_command_prints_holds_no_key_of_the_environment(tmp_path, ask):
    command = script(tmp_path, f"import sys; print('{SECRET}'); sys.exit(len(sys.argv) - 1)")
    answer = await CommandProvider(command, as_json=False, secrets=[SECRET]).complete(ask())
    failing = Command((*command.argv, SECRET), tmp_path)
    failed = await CommandProvider(failing, as_json=False, secrets=[SECRET]).complete(ask())
    assert isinstance(answer, Completion)
    assert "CANARY" not in answer.text
    assert isinstance(failed, Failure)
    assert "CANARY" not in failed.message


LINES = """
import json, os, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    prompt = asked["prompt"]
    if prompt == "die":
        sys.exit("dying")
    if prompt == "hang":
        time.sleep(60)
    print(json.dumps({"id": asked["id"], "text": f"{prompt} {os.getpid()}"}), flush=True)
"""


async def test_a_long_lived_process_is_asked_again_and_again(tmp_path, ask):
    provider = LineProvider(script(tmp_path, LINES))
    pids = {(await provider.complete(ask("a"))).text for _ in range(5)}
    assert len(pids) == 1
    together = await asyncio.gather(*(provider.complete(ask("b")) for _ in range(3)))
    assert len({answer.text for answer in together}) == 3
    await provider.close()
    for answer in together:
        assert await gone(int(answer.text.split()[1]))


async def test_a_long_lived_process_that_dies_or_hangs_is_replaced(tmp_path, ask):
    provider = LineProvider(script(tmp_path, LINES))
    failure = await provider.complete(ask("die"))
    assert (failure.status, failure.retry) == (Status.SERVER_ERROR, True)
    assert "exit code 1) without an answer: dying" in failure.message
    before = (await provider.complete(ask("a"))).text.split()[1]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await provider.complete(ask("hang"))
    assert await gone(int(before))
    after = (await provider.complete(ask("a"))).text.split()[1]
    assert after != before
    await provider.close()


SAYS_TOO_MUCH = """
import json, sys, time
how = sys.argv[1]
if how == "banner":
    print("Loading model...", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    answer = json.dumps({"id": asked["id"], "text": asked["prompt"]})
    if how == "no id":
        answer = json.dumps({"text": asked["prompt"]})
    if how == "late" and asked["prompt"] == "0":
        answer = json.dumps({"id": asked["id"] + 1, "text": "another's"}) + "\\n" + answer
    print(answer, flush=True)
    if how == "blank":
        print(flush=True)
    if how == "twice":
        print(answer, flush=True)
"""


@pytest.mark.parametrize(
    ("how", "answered", "told"),
    [
        ("blank", 4, ""),
        ("banner", 0, "wrote a line that is no answer (its output is for answers alone): Loading model..."),
        ("no id", 0, "wrote an answer without an id to the call with"),
        ("twice", 2, 'wrote an answer with the id 1 to the call with "id": 2'),
        ("late", 3, 'wrote an answer with the id 2 to the call with "id": 1'),
    ],
)
async def test_a_program_that_says_too_much_never_answers_one_call_with_the_answer_to_another(
    tmp_path, ask, how, answered, told
):
    command = script(tmp_path, SAYS_TOO_MUCH)
    provider = LineProvider(Command((*command.argv, how), tmp_path))
    outcomes = [await provider.complete(ask(str(number))) for number in range(4)]
    await provider.close()
    texts = {n: outcome.text for n, outcome in enumerate(outcomes) if isinstance(outcome, Completion)}
    assert texts == {n: str(n) for n in texts}
    assert len(texts) == answered
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert {(failure.status, failure.retry) for failure in failures} <= {(Status.SERVER_ERROR, True)}
    assert all(told in failures[0].message for _ in failures[:1])


async def test_a_program_that_leaves_its_group_with_the_output_open_is_given_up_without_a_word(tmp_path, ask, capfd):
    """It made a session of its own, so nothing here may kill it; its pipes are let go."""
    command = script(
        tmp_path,
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            open("pid", "w").write(str(os.getpid()))
            time.sleep(4)
        """,
    )
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await CommandProvider(command, as_json=False).complete(ask())
    os.kill(int((tmp_path / "pid").read_text()), 9)
    gc.collect()
    assert "Traceback" not in capfd.readouterr().err


MODULE = """
import asyncio
import sys
import time

def shout(asked):
    return asked["prompt"].upper()

async def table(asked):
    return {"text": "4", "model": "f-1", "usage": {"prompt_tokens": 1, "completion_tokens": 1}}

def fails(asked):
    raise RuntimeError("no luck with %s" % asked["messages"][0]["content"])

def stops(asked):
    raise StopIteration

def leaves(asked):
    raise SystemExit(3)

async def cancels(asked):
    raise asyncio.CancelledError

async def exits(asked):
    sys.exit(4)

async def interrupts(asked):
    raise KeyboardInterrupt

async def blocks(asked):
    time.sleep(1)

def nothing(asked):
    return None

def hangs(asked):
    time.sleep(30)

value = 4
"""


@pytest.fixture
def module(tmp_path, monkeypatch) -> str:
    """A module of a name that no other test has."""
    name = f"agent_{time.monotonic_ns()}"
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(sys, "path", sys.path[:])
    return name


@pytest.mark.parametrize(("function", "text"), [("shout", "HI"), ("table", "4")])
async def test_a_function_answers(tmp_path, module, ask, function, text):
    completion = await FunctionProvider(f"{module}:{function}", tmp_path).complete(ask("hi"))
    assert (completion.text, completion.status) == (text, Status.OK)


@pytest.mark.parametrize(
    ("function", "retry", "said"),
    [
        ("fails", True, "RuntimeError: no luck with hi"),
        ("stops", True, "StopIteration"),
        ("leaves", True, "SystemExit: 3"),
        ("cancels", True, "CancelledError"),
        ("exits", True, "SystemExit: 4"),
        ("interrupts", True, "KeyboardInterrupt"),
        ("nothing", False, "neither a text nor a table"),
    ],
)
async def test_a_function_that_fails_fails_its_call_only(tmp_path, module, ask, function, retry, said):
    failure = await FunctionProvider(f"{module}:{function}", tmp_path).complete(ask("hi"))
    assert (failure.status, failure.retry) == (Status.SERVER_ERROR, retry)
    assert said in failure.message


@pytest.mark.parametrize("function", ["hangs", "blocks"])
async def test_a_function_that_hangs_is_given_up_at_the_deadline(tmp_path, module, ask, function):
    provider = FunctionProvider(f"{module}:{function}", tmp_path)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await provider.complete(ask())
    assert time.monotonic() - began < 0.9


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no_such_module_here:f", "no_such_module_here cannot be imported: ModuleNotFoundError"),
        ("{module}:missing", "has no missing"),
        ("{module}:value", "is not a function"),
    ],
)
def test_a_function_that_is_not_there_is_named(tmp_path, module, name, said):
    with pytest.raises(EvaltuiError, match=said):
        FunctionProvider(name.format(module=module), tmp_path)


def recorded(folder: Path, *rows: object) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


async def test_the_most_particular_recording_is_replayed(tmp_path, ask):
    path = recorded(
        tmp_path,
        {"item": "i1", "text": "any"},
        {"item": "i1", "text": "second", "repeat": 2},
        {"item": "i1", "text": "candidate's", "arm": "b"},
        {"item": "i1", "text": "candidate's second", "arm": "b", "repeat": 2},
        {"item": 7, "error": "it broke"},
    )
    provider = ReplayProvider(path)
    said = [
        (await provider.complete(ask(arm=arm, repeat=repeat))).text
        for arm, repeat in [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    ]
    assert said == ["any", "second", "candidate's", "candidate's second"]
    assert "it broke" in (await provider.complete(ask(item="7"))).message
    missing = await provider.complete(ask(item="i2"))
    assert (missing.status, missing.pause) == (Status.REQUEST_ERROR, False)
    assert "no answer is recorded for item 'i2', a#1" in missing.message


async def test_one_answer_for_all_repeats_is_said_to_be_no_repeat(tmp_path, ask):
    provider = ReplayProvider(recorded(tmp_path, {"item": "i1", "text": "4"}))
    assert (await provider.complete(ask(repeat=1))).oddities == ()
    (oddity,) = (await provider.complete(ask(repeat=2))).oddities
    assert "only the scorer's noise" in oddity


def test_every_fault_of_a_recording_is_named_with_its_line(tmp_path):
    path = recorded(
        tmp_path, {"item": "i", "text": "4"}, "not json", [1], {"text": "4"}, {"item": "i"}, {"item": "i", "text": "5"}
    )
    with pytest.raises(InputError) as raised:
        ReplayProvider(path)
    assert [fault.where for fault in raised.value.faults] == ["line 2", "line 3", "line 4", "line 5", "line 6"]
    with pytest.raises(InputError, match="holds no answers"):
        ReplayProvider(recorded(tmp_path))
