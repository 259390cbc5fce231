"""A schema registry for tests: registers schemas, and gives them by id. It speaks what clients of Confluent's
registry ask for."""

import base64
import http.server
import json
import re
import threading
import urllib.parse


class SchemaRegistry:
    """`user`: "name:password", if it asks for them. `broken`: the status that it answers to everything."""

    def __init__(self, user=None, first_id=1):
        self.user, self.broken, self.asked = user, None, []
        self.schemas, self.subjects, self.next_id = {}, {}, first_id
        self.deleted = set()  # subjects whose versions are deleted softly
        self.texts = {}  # {id: what it gives instead of the schema that was registered}
        self.port, self._server = 0, None

    def start(self):
        """On the same port as before, if it was started before."""
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.reply(*registry.get(self.path, self.headers))

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.reply(*registry.post(self.path, body))

            def reply(self, status, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def register(self, schema, kind="AVRO", subject="events-value", references=()):
        """Returns the schema's id."""
        text = schema if isinstance(schema, str) else json.dumps(schema)
        held = {"schema": text, "schemaType": kind, "references": list(references)}
        for number, known in self.schemas.items():
            if known == held:
                return number
        number, self.next_id = self.next_id, self.next_id + 1
        self.schemas[number] = held
        self.subjects.setdefault(subject, []).append(number)
        return number

    def shown(self, number):
        held = self.schemas[number]
        return held | {"schema": self.texts.get(number, held["schema"])}

    def get(self, path, headers):
        self.asked.append(path)
        if self.broken:
            return self.broken, {"error_code": self.broken * 100, "message": "the tests' own trouble"}
        wanted = self.user and "Basic " + base64.b64encode(self.user.encode()).decode()
        if wanted and headers.get("Authorization") != wanted:
            return 401, {"error_code": 401, "message": "Unauthorized"}
        asks_deleted = "deleted=true" in path
        path = urllib.parse.urlparse(path).path
        if match := re.fullmatch("/schemas/ids/(\\d+)", path):
            number = int(match[1])
            if number not in self.schemas:
                return 404, {"error_code": 40403, "message": f"Schema {number} not found"}
            return 200, self.shown(number)
        if match := re.fullmatch("/subjects/([^/]+)/versions/(\\w+)", path):
            subject = urllib.parse.unquote(match[1])
            ids = self.subjects.get(subject, [])
            version = len(ids) if match[2] == "latest" else int(match[2])
            if not 0 < version <= len(ids) or (subject in self.deleted and not asks_deleted):
                return 404, {"error_code": 40402, "message": "Version not found"}
            number = ids[version - 1]
            return 200, {"subject": subject, "id": number, "version": version} | self.shown(number)
        return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}

    def post(self, path, body):
        match = re.fullmatch("/subjects/([^/]+)(/versions)?", urllib.parse.urlparse(path).path)
        subject = urllib.parse.unquote(match[1])
        number = self.register(
            body["schema"], body.get("schemaType", "AVRO"), subject, body.get("references", [])
        )
        version = self.subjects.setdefault(subject, [number]).index(number) + 1
        return 200, {"subject": subject, "id": number, "version": version} | self.schemas[number]
