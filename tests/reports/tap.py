"""A proxy for plain HTTP that a test controls: sees requests and answers, holds and cuts them.

A request is known by its first piece, which has the request line: clients send a head at once.
"""

import contextlib
import select
import socket
import threading
import time


class Tap:
    def __init__(self, port: int):
        self.answers: list[tuple[int, float]] = []  # the status, and when it came
        self.requests: list[str] = []  # the first line of each
        self.held = 0  # those that wait for release()
        self._to, self._hold, self._go_on = port, "", threading.Event()
        self._streams: list[tuple[bytes, socket.socket]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.release()
        self._listener.close()

    def hold(self, text: str) -> None:
        """Requests whose line has this text wait from now on."""
        self._go_on.clear()
        self._hold = text

    def release(self) -> None:
        self._hold = ""
        self._go_on.set()

    def cut(self, text: str) -> int:
        """Breaks off the connections whose last request line has this text; how many."""
        found = [stream for stream in self._streams if text.encode() in stream[0]]
        for stream in found:
            self._forget(stream)
            with contextlib.suppress(OSError):
                stream[1].shutdown(socket.SHUT_RDWR)
        return len(found)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError), \
                socket.create_connection(("127.0.0.1", self._to), 30) as server:
            stream = (b"", client)
            try:
                while True:
                    for ready in select.select([client, server], [], [])[0]:
                        data = ready.recv(65536)
                        if not data:
                            return
                        if ready is client:
                            stream = self._seen(stream, data)
                        elif data.startswith(b"HTTP/1.1 "):
                            self.answers.append((int(data[9:12]), time.monotonic()))
                        (server if ready is client else client).sendall(data)
            finally:
                self._forget(stream)

    def _seen(self, stream: tuple[bytes, socket.socket], data: bytes) -> tuple:
        line = data.partition(b"\r\n")[0]
        if not line.endswith(b" HTTP/1.1"):
            return stream
        self._forget(stream)
        stream = (line, stream[1])
        self._streams.append(stream)
        self.requests.append(line.decode(errors="replace"))
        if self._hold and self._hold.encode() in line:
            self.held += 1
            self._go_on.wait()
        return stream

    def _forget(self, stream: tuple[bytes, socket.socket]) -> None:
        with contextlib.suppress(ValueError):
            self._streams.remove(stream)
