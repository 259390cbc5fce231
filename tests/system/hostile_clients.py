"""Hostile connections, about a thousand from one thread: slow headers, slow bodies, huge lengths, repeated
handshakes. They use loopback only, and end with the process or with the `with` block."""

import os
import random
import selectors
import socket
import ssl
import threading
import time

SLOW_BODY = b"POST /v1/similar HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 65536\r\n\r\n{"
HUGE = b"POST /v1/similar HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999999999\r\n\r\n"
KINDS = ("slow headers", "slow body", "huge length", "handshakes")
DRIP_S = 0.5  # from one byte of a connection to the next


def handshake():
    """(session, incoming bytes, outgoing bytes) of a TLS client that has no socket."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    return context.wrap_bio(incoming, outgoing), incoming, outgoing


class Crowd:
    """`count` connections, a quarter of each kind. A connection that the daemon ends is opened again. Use
    with `with`. Without TLS, connections of the kind `handshakes` send nothing. `nice`: priority of the
    crowd's thread. Real attackers use their own machines, so this thread should take little processor time
    from the daemon."""

    def __init__(self, address, count, tls=False, source=None, nice=0):
        host, port = address.split(":")
        self.address, self.tls, self.source = (host, int(port)), tls, source
        self.nice = nice
        self.count, self.opened, self.refused, self.ended = count, 0, 0, 0
        self.stopping, self.full = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        assert self.full.wait(60), "the crowd didn't get together"
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join(30)

    def _open(self, kind):
        connection = socket.socket()
        connection.setblocking(False)
        if self.source:
            connection.bind((self.source, 0))
        connection.connect_ex(self.address)
        self.opened += 1
        return {"kind": kind, "socket": connection, "sent": 0, "tls": handshake() if self.tls else None}

    def _next_bytes(self, one):
        """The bytes that the connection sends now: at first the beginning of its request, later one byte."""
        if one["tls"]:
            session, _, outgoing = one["tls"]
            try:
                session.do_handshake()
                if one["kind"] != "handshakes":
                    session.write(self._plain(one))
                else:  # the handshake is done: begin another one
                    raise ConnectionResetError
            except ssl.SSLWantReadError:
                pass
            return outgoing.read()
        return b"" if one["kind"] == "handshakes" else self._plain(one)

    @staticmethod
    def _plain(one):
        if one["kind"] == "slow headers":
            return b"GET / HTTP/1.1\r\nX-" if one["sent"] == 0 else b"a"
        start = SLOW_BODY if one["kind"] == "slow body" else HUGE
        return start if one["sent"] == 0 else b" "

    def _run(self):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), self.nice)
        selector = selectors.DefaultSelector()
        due = []

        def add(kind):
            one = self._open(kind)
            selector.register(one["socket"], selectors.EVENT_READ, one)
            due.append(
                (time.monotonic() + random.random() * DRIP_S, one)
            )  # spreads the connections over the interval

        def close(one):
            if one["socket"].fileno() < 0:
                return
            selector.unregister(one["socket"])
            one["socket"].close()
            self.ended += 1
            add(one["kind"])

        begun = time.monotonic()
        for number in range(self.count):
            add(KINDS[number % len(KINDS)])
        while not self.stopping.is_set():
            for key, _ in selector.select(0.01):
                one = key.data
                try:
                    data = one["socket"].recv(65536)
                    if not data:
                        raise ConnectionResetError
                    if one["tls"]:
                        one["tls"][1].write(data)
                        one["socket"].send(self._next_bytes(one) or b"")
                    elif b" 503 " in data[:32]:
                        self.refused += 1
                except BlockingIOError:
                    pass
                except (OSError, ssl.SSLError):
                    close(one)
            now = time.monotonic()
            todo = [one for at, one in due if at <= now]
            due[:] = [(at, one) for at, one in due if at > now]
            for one in todo:
                if one["socket"].fileno() < 0:
                    continue
                try:
                    data = self._next_bytes(one)
                    if data:
                        one["socket"].send(data)
                        one["sent"] += 1
                except BlockingIOError:
                    pass
                except (OSError, ssl.SSLError):
                    close(one)
                    continue
                due.append((now + DRIP_S, one))
            if now - begun > DRIP_S:
                self.full.set()
        for key in list(selector.get_map().values()):
            key.fileobj.close()
        selector.close()
