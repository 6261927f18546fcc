"""Requests to a test server, with nothing but the standard library."""

import contextlib
import http.client
import json
import ssl
import threading
from pathlib import Path

import credentials


class Client:
    """The subclass says where the server is: `port`, on 127.0.0.1."""

    port: int

    def __init__(self, certs: Path):
        self.certs = certs
        self._kept: dict[int, http.client.HTTPSConnection] = {}  # by thread

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def token(self, context: str = "admin") -> str:
        return credentials.tokens(self.certs)[context]

    def request(self, method: str, path: str, body=None, token: str | None = None,
                content_type: str = "application/json") -> tuple[int, dict | str]:
        """One request as admin, or with another token; the connection is kept per thread."""
        headers = {"Authorization": f"Bearer {token or self.token()}"}
        if body is not None:
            headers["Content-Type"] = content_type
            body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        kept = self._kept.get(threading.get_ident())
        try:
            response, text = self._send(kept or self._connect(), method, path, body, headers)
        except (http.client.HTTPException, OSError):
            if kept is None:
                raise
            # A kept connection may have died with a stopped server: once more on a new one.
            response, text = self._send(self._connect(), method, path, body, headers)
        is_json = response.headers.get_content_type() == "application/json"
        return response.status, json.loads(text) if is_json else text.decode()

    def watch(self, path: str, seconds: int = 5):
        """Yields watch events until the server ends the stream, which it does after `seconds`."""
        path += f"{'&' if '?' in path else '?'}watch=1&timeoutSeconds={seconds}"
        with contextlib.closing(self._new_connection(timeout=seconds + 10)) as connection:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.token()}"})
            response = connection.getresponse()
            if response.status != 200:
                raise RuntimeError(f"watch refused: {response.status} {response.read().decode()}")
            yield from map(json.loads, response)

    def close(self) -> None:
        """Drops the kept connections, once no thread uses them."""
        while self._kept:
            self._kept.popitem()[1].close()

    def _new_connection(self, timeout: float) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=self.certs / "ca.crt")
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=context)

    def _connect(self) -> http.client.HTTPSConnection:
        connection = self._new_connection(timeout=60)
        self._kept[threading.get_ident()] = connection
        return connection

    def _send(self, connection, method, path, body, headers):
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response, response.read()
        except BaseException:
            self._kept.pop(threading.get_ident()).close()
            raise
