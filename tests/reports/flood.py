#!/usr/bin/env python3
"""Sends reports with junk tokens, as many as are asked for; prints how many were answered.

  flood.py PORT RATE SECONDS NAMESPACE/POD/UID   the pod is a real one; its signatures are not

SIGTERM ends it earlier.
"""

import base64
import json
import os
import selectors
import signal
import socket
import sys
import time

CONNECTIONS = 40
BATCH = 10  # requests in one piece


def jwt(namespace: str, pod: str, uid: str, signature: str) -> str:
    claims = {"aud": ["amdahl.dev/report"], "exp": 4102444800,
              "kubernetes.io": {"namespace": namespace, "pod": {"name": pod, "uid": uid},
                                "serviceaccount": {"name": "default", "uid": "x"}}}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
             for part in ({"alg": "HS256"}, claims)]
    return ".".join((*parts, signature))


def junk(number: int, pod: tuple[str, str, str]) -> str:
    signature = os.urandom(16).hex()
    if number % 3 == 0:
        return signature
    return jwt(*pod, signature) if number % 3 == 1 else jwt("made", "up-1-0", signature, signature)


def request(token: str) -> bytes:
    return (f"POST /v1/report HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            "Content-Length: 2\r\n\r\n{}").encode()


class Flood:
    def __init__(self, port: int, pod: tuple[str, str, str]):
        self._port, self._pod = port, pod
        self._selector = selectors.DefaultSelector()
        self.sent = self.answered = 0
        for number in range(CONNECTIONS):
            self._connect(number)

    def _connect(self, number: int) -> None:
        one = socket.socket()
        one.bind(("127.0.0.1" if number % 2 else "127.0.0.2", 0))
        one.settimeout(10)
        one.connect(("127.0.0.1", self._port))
        one.setblocking(False)
        self._selector.register(one, selectors.EVENT_READ, number)

    def send(self, number: int) -> None:
        one = next((key.fileobj for key in self._selector.get_map().values()
                    if key.data == number % CONNECTIONS), None)
        if one is None:
            return
        batch = b"".join(request(junk(self.sent + i, self._pod)) for i in range(BATCH))
        try:
            self.sent += BATCH if one.send(batch) == len(batch) else 0
        except BlockingIOError:
            time.sleep(0.001)  # the server is behind: what was asked for is more than it takes
        except OSError:
            self._again(one, number % CONNECTIONS)

    def _again(self, one: socket.socket, number: int) -> None:
        self._selector.unregister(one)
        one.close()
        self._connect(number)

    def read(self) -> None:
        for key, _ in self._selector.select(0):
            try:
                data = key.fileobj.recv(1 << 16)
            except OSError:
                data = b""
            self.answered += data.count(b"HTTP/1.1 ")
            if not data:
                self._again(key.fileobj, key.data)


def main() -> None:
    port, rate, seconds, pod = sys.argv[1:]
    flood = Flood(int(port), tuple(pod.split("/")))
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    print("flooding", flush=True)
    start = time.monotonic()
    number = 0
    while (now := time.monotonic() - start) < float(seconds) and not ended:
        if number * BATCH < now * float(rate):
            flood.send(number)
            number += 1
        else:
            time.sleep(0.001)
        flood.read()
    print(json.dumps({"seconds": now, "sent": flood.sent, "answered": flood.answered}), flush=True)


if __name__ == "__main__":
    main()
