"""A loopback endpoint that gives back the secrets it is sent, wherever a server can put them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final


def _spelt(text: str) -> str:
    """As JSON may write it: each character by its number."""
    return "".join(f"\\u{ord(character):04x}" for character in text)


def _error(status: int, **error: str) -> tuple[int, str]:
    return status, json.dumps({"error": error})


def _completion(message: dict[str, Any] | None = None, choice: dict[str, Any] | None = None, **more: Any) -> Any:
    whole = {"role": "assistant", "content": "4", **(message or {})}
    first = {"index": 0, "message": whole, "finish_reason": "stop", **(choice or {})}
    return 200, json.dumps({"model": "m", "choices": [first], **more})


ANSWERS: Final[dict[str, Callable[[str], tuple[int, str]]]] = {
    "content": lambda said: _completion({"content": f"you sent {said}, so 4"}),
    "reasoning": lambda said: _completion({"reasoning_content": said}),
    "refusal": lambda said: _completion({"refusal": f"no, {said}"}),
    "finish reason": lambda said: _completion(choice={"finish_reason": said}),
    "choice": lambda said: _completion(choice={"error": {"message": said, "code": 502}}),
    "model": lambda said: _completion(model=said),
    "fingerprint": lambda said: _completion(system_fingerprint=said),
    "usage": lambda said: _completion(usage={"prompt_tokens": said, "completion_tokens": said}),
    "headers": lambda _: _completion(),
    "spelt": lambda said: (200, _completion({"content": "HERE 4"})[1].replace("HERE", _spelt(said))),
    "spelt, at a cut": lambda said: (
        200,
        _completion(choice={"finish_reason": "x" * 180 + "HERE"})[1].replace("HERE", _spelt(said)),
    ),
    "400": lambda said: _error(400, message=f"refused: {said}", type=said, param=said),
    "400, at a cut": lambda said: _error(400, message="x" * 275 + said),
    "400, spelt, at a cut": lambda said: (
        400,
        _error(400, message="x" * 275 + "HERE")[1].replace("HERE", _spelt(said)),
    ),
    "503": lambda said: _error(503, message=said),
    "code": lambda said: _error(400, message="refused", code=said, type="content_filter"),
    "html": lambda said: (502, f"<html><body>you sent {said}</body></html>"),
    "list": lambda said: (200, json.dumps([said])),
}
"""Where the secrets come back, by the text of the item that asks for it."""


@contextmanager
def echoing() -> Iterator[tuple[str, list[str]]]:
    """The base URL, and the secrets of every call so far."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            secrets = f"{self.headers['Authorization']} {self.headers['X-Gate']}"
            seen.append(secrets)
            place = asked["messages"][-1]["content"]
            status, body = ANSWERS.get(place, ANSWERS["content"])(secrets)
            data = body.encode()
            self.send_response(status, secrets if place == "headers" else None)
            self.send_header("Content-Length", str(len(data)))
            if place in ("headers", "503"):
                self.send_header("Set-Cookie", f"session={secrets}")
                self.send_header("X-Request-Id", secrets)
                self.send_header("Retry-After" if place == "headers" else "X-Limit", secrets)
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", seen
    server.shutdown()
    server.server_close()
