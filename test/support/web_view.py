"""`trainscope view` as a test drives it: a server, requests with any headers, and a reader of its columns of its own."""
import http.client
import json
import signal
import socket
import subprocess
import urllib.parse

from columns_reader import decode_columns
from trainscope_test import BIN, PATIENCE_S, end


class View:
    """A server for the runs of a test's home, until close()."""

    def __init__(self, case, *words, **variables):
        self.process = subprocess.Popen([BIN, "view", *words], env=case.environment(**variables), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        case.addCleanup(end, self.process)
        line = self.process.stdout.readline().decode().strip()
        self.url = urllib.parse.urlsplit(line)
        self.port = self.url.port
        self.token = urllib.parse.parse_qs(self.url.query)["token"][0]
        self.cookie = f"trainscope-{self.port}={self.token}"

    def request(self, path, method="GET", host=None, cookie=True, headers=(), body=None):
        """(status, headers, body) of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if host is not False:
            connection.putheader("Host", host or f"127.0.0.1:{self.port}")
        if cookie:
            connection.putheader("Cookie", self.cookie)
        for name, value in headers:
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        return reply.status, dict(reply.getheaders()), content

    def status(self, path, *words, **keywords):
        return self.request(path, *words, **keywords)[0]

    def json(self, path):
        status, _, content = self.request(path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {content[:300]}")
        return json.loads(content)

    def columns(self, path):
        status, _, content = self.request(path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {content[:300]}")
        return decode_columns(content)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def memory_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))

    def events(self, run, until="ended"):
        """Events of a live run as (name, data), as they come."""
        stream = self.connect()
        stream.sendall(f"GET /api/run/{run}/live HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: {self.cookie}\r\n\r\n".encode())
        with stream, stream.makefile("rb") as lines:
            status = lines.readline().split()[1]
            if status != b"200":
                raise AssertionError(status)
            name = None
            for line in lines:
                if line.startswith(b"event: "):
                    name = line[7:].strip().decode()
                elif line.startswith(b"data: "):
                    yield name, json.loads(line[6:])
                    if name == until:
                        return

    def close(self, number=signal.SIGINT):
        """Its exit code, and what it printed to stderr."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, errors.decode()
