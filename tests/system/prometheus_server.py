"""A real Prometheus with the configuration of deploy/. A test changes its targets and intervals."""

import json
import re
import signal
import subprocess
import textwrap
import time
import urllib.parse

from http_json import Http
from places import SOURCE, free_port, wait_until

DEPLOYED = SOURCE / "deploy" / "prometheus"


class Prometheus:
    def __init__(self, directory, targets, deployed="prometheus.yml", alerts=None, job=""):
        """`targets`: {target of the deployed file: its address here}. `alerts`: rules that replace the
        deployed ones. `job`: more lines of the daemons' job."""
        changed = (DEPLOYED / deployed).read_text()
        for target, address in targets.items():
            assert f'"{target}"' in changed, f"deploy/prometheus/{deployed} scrapes {target}"
            changed = changed.replace(f'"{target}"', f'"{address}"')
        assert "job_name: seend\n" in changed
        changed = changed.replace("job_name: seend\n", f"job_name: seend\n{textwrap.indent(job, '    ')}\n")
        changed = re.sub(r"(scrape|evaluation)_interval: \S+", r"\1_interval: 1s", changed)
        self.configuration = directory / "prometheus.yml"
        self.configuration.write_text(changed)
        (directory / "alerts.yml").write_text(alerts or (DEPLOYED / "alerts.yml").read_text())
        address = f"127.0.0.1:{free_port()}"
        self.log_path = directory / "prometheus.log"
        with open(self.log_path, "ab") as log:
            own = [f"--storage.tsdb.path={directory}/tsdb", f"--web.listen-address={address}"]
            command = ["prometheus", f"--config.file={directory}/prometheus.yml", *own]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=directory)
        self.http = Http(address)

    def reconfigure(self, old, new):
        """Replaces `old` in the configuration with `new`, and makes Prometheus read the file again."""
        text = self.configuration.read_text()
        assert old in text, old
        self.configuration.write_text(text.replace(old, new))
        self.process.send_signal(signal.SIGHUP)

    def ask(self, path, **parameters):
        answer = self.http.get(f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        document = json.loads(answer.body)
        assert document["status"] == "success", document
        return document["data"]

    def query(self, expression):
        return self.ask("query", query=expression)["result"]

    def value(self, expression):
        """The value of a query that has exactly one result."""
        (series,) = self.query(expression)
        return float(series["value"][1])

    @staticmethod
    def filled_in(expression):
        """The query of a panel, with its variables."""
        filled = expression.replace("$__rate_interval", "8s").replace("$instance", ".*")
        assert "$" not in filled, filled
        return filled

    def series(self, expression, end=None, seconds=6):
        """The labels of each series of a panel's query that has a finite value within these seconds."""
        end = end or time.time()
        times = {"start": end - seconds, "end": end, "step": 1}
        result = self.ask("query_range", query=self.filled_in(expression), **times)["result"]
        return [
            series["metric"]
            for series in result
            if any(value not in ("NaN", "+Inf", "-Inf") for _, value in series["values"])
        ]

    def empty_panels(self, panels, quiet=()):
        """The queries of these panels that find nothing. Queries of metrics in `quiet` may find nothing: they
        aren't listed."""
        return [
            f"{panel['title']}: {target['expr']}"
            for panel in panels
            for target in panel["targets"]
            if not self.series(target["expr"]) and not any(name in target["expr"] for name in quiet)
        ]

    def wait_scraped(self, scrapes):
        """Waits until each target was scraped so many times."""

        def enough():
            assert self.process.poll() is None, self.log_path.read_text()[-3000:]
            result = self.query("sum_over_time(up[5m])")
            return bool(result) and all(float(series["value"][1]) >= scrapes for series in result)

        wait_until(enough, f"{scrapes} scrapes by Prometheus", timeout_s=60, every_s=0.3)

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        self.http.close()
