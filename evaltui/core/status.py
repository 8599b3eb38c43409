"""What can become of a cell, an attempt and a study."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Status(StrEnum):
    """The terminal status of a cell, and the status of one attempt. Only ``OK`` scores."""

    OK = "ok"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    NETWORK_ERROR = "network_error"
    REQUEST_ERROR = "request_error"
    QUOTA = "quota"
    TRUNCATED = "truncated"
    LIMIT = "limit"
    REFUSED = "refused"
    EMPTY = "empty"
    PARSE_FAILURE = "parse_failure"
    JUDGE_ERROR = "judge_error"
    JUDGE_PARSE_FAILURE = "judge_parse_failure"
    SCORER_ERROR = "scorer_error"
    CANCELLED = "cancelled"


PENDING_CODE: Final = 0
"""The grid's code of a cell that has no terminal record yet."""

STATUS_CODES: Final[dict[Status, int]] = {status: code for code, status in enumerate(Status, start=1)}
STATUS_BY_CODE: Final[dict[int, Status]] = {code: status for status, code in STATUS_CODES.items()}
OK_CODE: Final = STATUS_CODES[Status.OK]


class StudyState(StrEnum):
    """The state that the engine last wrote; a ``RUNNING`` study whose lease is dead has crashed."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FINISHED = "finished"


class Command(StrEnum):
    """What another terminal may ask of a running engine."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
