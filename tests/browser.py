"""A headless Chromium, driven over a pipe by its own protocol, with no other package: what a reader of the page has."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 60.0
"""Seconds until an answer is overdue."""


def program() -> str | None:
    """The browser of this machine."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A browser that runs: `call` asks it something, `events` are all that it told unasked."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._pending = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """The answer. Raises RuntimeError for a refusal, TimeoutError for none."""
        self._number += 1
        asked = {"id": self._number, "method": method, "params": parameters}
        message = json.dumps(asked | ({"sessionId": session} if session else {})).encode() + b"\0"
        while message:
            message = message[os.write(self._write, message) :]
        while True:
            told = self._next(time.monotonic() + PATIENCE)
            if told.get("id") == self._number:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error']['message']}")
                return dict(told["result"])
            self.events.append(told)

    def wait(self, method: str, session: str) -> None:
        """Until the session tells of it."""
        until = time.monotonic() + PATIENCE
        while not any(told.get("method") == method and told.get("sessionId") == session for told in self.events):
            self.events.append(self._next(until))

    def _next(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._pending:
            ready, _, _ = select([self._read], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser says nothing")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self._pending += part
        message, _, self._pending = self._pending.partition(b"\0")
        return dict(json.loads(message))


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """One that ends with the block. `profile` is an empty folder for what it writes."""
    found = program()
    if found is None:
        raise RuntimeError(f"no browser, expected one of {', '.join(NAMES)}")
    (ours_in, theirs_out), (theirs_in, ours_out) = os.pipe(), os.pipe()
    high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 100) for each in (theirs_in, theirs_out)]
    actions: list[Any] = [(os.POSIX_SPAWN_DUP2, each, number) for each, number in zip(high, (3, 4), strict=True)]
    actions += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    argv = [found, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    environment = {**os.environ, "HOME": str(profile), "XDG_CONFIG_HOME": str(profile), "XDG_CACHE_HOME": str(profile)}
    pid = os.posix_spawn(found, argv, environment, file_actions=actions, setpgroup=0)
    for each in (*high, theirs_in, theirs_out):
        os.close(each)
    try:
        yield Browser(ours_in, ours_out)
    finally:
        os.close(ours_out)
        os.close(ours_in)
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


class Page:
    """A page as it is shown: `width` in CSS pixels, `dark` or light, with or without `scripts`."""

    def __init__(
        self, of: Browser, file: Path, *, width: int = 1280, height: int = 900, dark: bool = False, scripts: bool = True
    ) -> None:
        self._of = of
        target = of.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = of.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Page.navigate", url=file.as_uri())
        of.wait("Page.loadEventFired", self._session)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What the browser answers about this page."""
        return self._of.call(method, self._session, **parameters)

    def ask(self, expression: str) -> Any:
        """The value of the expression, in the page. Raises RuntimeError if it throws."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(f"{expression:.80}: {told['exceptionDetails']}")
        return told["result"].get("value")

    def told(self, *methods: str) -> list[dict[str, Any]]:
        """What the browser told of this page by these methods."""
        ours = (each for each in self._of.events if each.get("sessionId") == self._session)
        return [each["params"] for each in ours if each.get("method") in methods]

    def complaints(self) -> list[dict[str, Any]]:
        """All that stands in the console."""
        self.ask("0")
        return self.told("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")

    def requests(self) -> list[str]:
        """Every address that was asked for."""
        return [each["request"]["url"] for each in self.told("Network.requestWillBeSent")]

    def pdf(self) -> bytes:
        """The page on paper."""
        return b64decode(self.call("Page.printToPDF", printBackground=False)["data"])

    def picture(self) -> bytes:
        """All of the page, as PNG."""
        return b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])
