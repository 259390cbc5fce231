"""HTTP with the standard library: one kept-alive connection, and nothing hidden."""

import http.client
import json
import ssl
import urllib.parse


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()


class Http:
    """For one thread. If the other side closed the connection, a request opens it again, once. `ca`: use TLS,
    trust this file. `source`: the address to ask from."""

    def __init__(self, address, timeout_s=10, ca=None, source=None):
        self.address, self.timeout_s, self.connection = address, timeout_s, None
        self.source = (source, 0) if source else None
        self.context = ssl.create_default_context(cafile=ca) if ca else None

    def connect(self):
        if self.context is None:
            connection = http.client.HTTPConnection(self.address, timeout=self.timeout_s)
        else:
            connection = http.client.HTTPSConnection(
                self.address, timeout=self.timeout_s, context=self.context
            )
        connection.source_address = self.source
        return connection

    def request(self, method, path, body=None, headers=None):
        fresh = self.connection is None
        if fresh:
            self.connection = self.connect()
        try:
            self.connection.request(method, path, body, headers or {})
            return Answer(self.connection.getresponse())
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if fresh or isinstance(error, TimeoutError):
                raise OSError(f"{method} {path}: {error!r}") from error
            return self.request(method, path, body, headers)

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, value=None):
        return self.request(
            "POST",
            path,
            None if value is None else json.dumps(value).encode(),
            {"Content-Type": "application/json"},
        )

    def delete(self, path):
        return self.request("DELETE", path)

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def user_path(user, filter_name="default"):
    return f"/v1/filters/{urllib.parse.quote(filter_name, safe='')}/users/{urllib.parse.quote(user, safe='')}"
