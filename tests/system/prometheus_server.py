"""A real Prometheus with the configuration of deploy/, its target and paces changed for a test."""

import json
import re
import subprocess
import urllib.parse

from http_json import Http
from places import SOURCE, free_port, wait_until

DEPLOYED = SOURCE / "deploy" / "prometheus"


class Prometheus:
    def __init__(self, directory, target):
        config = (DEPLOYED / "prometheus.yml").read_text()
        changed = config.replace('"seend:8080"', f'"{target}"')
        assert changed != config, "deploy/prometheus/prometheus.yml scrapes seend:8080"
        changed = re.sub(r"(scrape|evaluation)_interval: \S+", r"\1_interval: 1s", changed)
        (directory / "prometheus.yml").write_text(changed)
        (directory / "alerts.yml").write_text((DEPLOYED / "alerts.yml").read_text())
        address = f"127.0.0.1:{free_port()}"
        self.log_path = directory / "prometheus.log"
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/tsdb",
                 f"--web.listen-address={address}"], stdout=log, stderr=log, cwd=directory)
        self.http = Http(address)

    def ask(self, path, **parameters):
        answer = self.http.get(f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        document = json.loads(answer.body)
        assert document["status"] == "success", document
        return document["data"]

    def query(self, expression):
        return self.ask("query", query=expression)["result"]

    def wait_scraped(self, scrapes):
        """That many scrapes have succeeded."""
        def enough():
            assert self.process.poll() is None, self.log_path.read_text()[-3000:]
            result = self.query("count_over_time(seen_events_total[5m])")
            return bool(result) and float(result[0]["value"][1]) >= scrapes
        wait_until(enough, f"{scrapes} scrapes by Prometheus", timeout_s=60, every_s=0.3)

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        self.http.close()
