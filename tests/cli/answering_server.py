"""A loopback endpoint whose answers depend on the cell alone, and that remembers every call."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from evaltui.providers.cell_header import CELL_HEADER, CellName, decode_cell

Place = tuple[str, int, str]


@dataclass
class AnsweringServer:
    """Called as an endpoint of kind ``simulator``. ``answered``: (arm, repeat, item) -> when whole answers were sent.

    One cell in forty is told once in each session that the server is busy.
    """

    delay_s: float
    answered: dict[Place, list[float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _in_hand: list[int] = field(default_factory=list)

    def __enter__(self) -> Self:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def log_message(self, *_: object) -> None:
                """Nothing is logged."""

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                outer._in_hand.append(1)
                try:
                    outer.answer(decode_cell(self.headers[CELL_HEADER]), self)
                finally:
                    outer._in_hand.pop()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def settle(self) -> None:
        """Wait until nothing is being answered: calls of an engine that was killed are, for a moment longer."""
        while self._in_hand:
            time.sleep(0.005)

    def answer(self, name: CellName, handler: BaseHTTPRequestHandler) -> None:
        place = (name.arm, name.repeat, name.item_id)
        chance = hashlib.sha256(repr(place).encode()).digest()
        time.sleep(self.delay_s * (0.5 + chance[0] / 256))
        if chance[1] % 40 == 0 and name.attempt == 1:
            self._send(handler, 503, {"error": {"message": "busy"}})
            return
        n = int(name.item_id[1:])
        text = f"The answer is {2 * n + (chance[2] < 80)}"
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 4}
        self._send(handler, 200, {"model": "m", "choices": [choice], "usage": usage})
        with self._lock:
            self.answered.setdefault(place, []).append(time.monotonic())

    @staticmethod
    def _send(handler: BaseHTTPRequestHandler, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
        handler.wfile.flush()
