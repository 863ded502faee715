"""What one request consists of, and what its response means. Nothing here waits."""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from .errors import DockApiError, api_error

Value = str | int | bool | None


@dataclass(frozen=True)
class Call:
    """A request of one route."""

    method: str
    #: The path of the contract, with `{name}` for its parameters.
    path: str
    params: Mapping[str, Value] = field(default_factory=dict)
    query: Mapping[str, Value] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    #: The JSON body.
    body: Any = None
    #: The route takes an idempotency key.
    takes_key: bool = False
    #: Seconds without a byte of the response after which the request has failed.
    timeout: float | None = None

    def url(self, base_url: str) -> str:
        """Return the address. Names of files that are not UTF-8 keep their bytes."""

        def fill(match: re.Match[str]) -> str:
            name = match.group(1)
            text = _text(self.params[name])
            # A parser of URLs would take these for steps between folders, also percent-encoded.
            if text in ("", ".", ".."):
                raise ValueError(f"{name} must not be {text!r}.")
            return quote(text, safe="")

        path = re.sub(r"\{(\w+)\}", fill, self.path)
        pairs = [f"{name}={quote(_text(value), safe='', errors='surrogateescape')}"
                 for name, value in self.query.items() if value is not None]
        return f"{base_url}{path}{'?' if pairs else ''}{'&'.join(pairs)}"

    @property
    def read_seconds(self) -> float:
        return self.timeout if self.timeout is not None else _READ_SECONDS.get((self.method, self.path), 60.0)


#: Routes that may work for long before they respond.
_READ_SECONDS = {
    ("POST", "/v1/docks"): 1800.0,
    ("POST", "/v1/docks/{id}/branch"): 1800.0,
    ("POST", "/v1/docks/{id}/stop"): 1800.0,
    ("POST", "/v1/docks/{id}/resume"): 1800.0,
    ("POST", "/v1/templates"): 1800.0,
    ("POST", "/v1/docks/{id}/exec"): 660.0,
    ("PUT", "/v1/docks/{id}/files"): 660.0,
    ("DELETE", "/v1/docks/{id}/files"): 660.0,
    ("POST", "/v1/docks/{id}/files/move"): 660.0,
    # The service waits for a process that does not read its input.
    ("POST", "/v1/docks/{id}/processes/{pid}/stdin"): 660.0,
    ("GET", "/v1/docks/{id}/processes/{pid}/wait"): 120.0,
}


def _text(value: Value) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def retry_after_of(value: str | None) -> float | None:
    """Return the seconds of a `Retry-After`, which is a number or a date."""
    if value is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> DockApiError:
    """Return the error that an unsuccessful response stands for."""
    retry_after = retry_after_of(headers.get("retry-after"))
    content = _parsed(body)
    if isinstance(content, dict):
        code, message = content.get("code"), content.get("message")
        if isinstance(code, str) and isinstance(message, str):
            return api_error(status, code, message, retry_after)
    message = f"The response (HTTP {status}) is not from the Dock API. Check base_url."
    return api_error(status, "bad_response", message, retry_after)


def data_of(status: int, headers: Mapping[str, str], body: bytes) -> Any:
    """Return the `data` of a successful response. Raise the error that another response stands for."""
    content = _parsed(body)
    if 200 <= status < 300 and isinstance(content, dict) and content.get("ok") is True:
        return content.get("data")
    raise error_of(status, headers, body)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
