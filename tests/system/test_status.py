"""seenctl status and lost: they show a daemon on one screen."""

import json
import re
import signal
import subprocess
import time

from load import Load
from places import SEENCTL, wait_until
from seenctl_tool import run


def test_one_screen_says_whether_all_is_well_and_why_not(topics, daemon, topic_name, chance):
    topics.create(topic_name, partitions=3)
    seend = daemon(topic_name).start()
    Load(chance, users=20).send(topics, topic_name, 300)
    seend.wait_at_rest()
    at = ["--http", f"http://{seend.address}"]
    shown = run("status", *at)[0]
    assert shown.startswith("READY ") and f"topic       {topic_name}: 3 of 3 partitions here\n" in shown, (
        shown
    )
    rows = re.findall(r"^ +(\d)  ready +0 +\d\.\d s ", shown, re.M)
    assert rows == ["0", "1", "2"] and "\x1b[" not in shown
    assert len(shown.splitlines()) < 24, "one screen"
    assert json.loads(run("status", *at, "--json")[0])["ready"] is True
    nothing = run("status", "--lost", *at)[0]
    assert "no lost messages" in nothing

    watched = subprocess.Popen(
        [str(SEENCTL), "status", *at, "--watch", "0.2"], stdout=subprocess.PIPE, text=True
    )
    assert watched.stdout.readline().startswith("READY")
    seend.stop()
    deadline = time.monotonic() + 30
    while not (line := watched.stdout.readline()).startswith("NO ANSWER"):
        assert time.monotonic() < deadline, line
    seend.start()
    while not (line := watched.stdout.readline()).startswith("READY  "):
        assert time.monotonic() < deadline + 60, line
    watched.send_signal(signal.SIGINT)
    assert watched.wait(10) == 0
    watched.stdout.close()
    seend.stop()
    assert seend.address in run("status", *at, status=1)[1]


def test_a_daemon_that_does_not_get_on_says_so(topics, daemon, topic_name):
    seend = daemon(topic_name).start(ready=False)  # there is no such topic
    at = ["--http", f"http://{seend.address}"]
    wait_until(lambda: seend.http.get("/v1/status").status == 200, "it answers")
    shown = run("status", *at, status=1)[0]
    assert shown.startswith("NOT READY") and "  ! " in shown, shown
