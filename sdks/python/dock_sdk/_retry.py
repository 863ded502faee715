"""Which failed requests are sent again, and when."""

from __future__ import annotations

import random
import time

from .errors import DockApiError, DockConnectionError, DockError

#: The request was not carried out.
_REFUSED = ("rate_limited", "exec_busy")
_PASSING = ("service_unavailable", "bad_gateway", "internal_error")
#: A request with the same key that still runs is waited for this long. Some images take minutes to start.
_IN_PROGRESS_SECONDS = 900.0
#: How long to try without any success. A restart of the service takes seconds.
_PATIENCE_SECONDS = 60.0


def backoff_seconds(attempt: int) -> float:
    """Return the wait before attempt `attempt` (from 1): it doubles, up to five seconds, and is spread."""
    return float(min(5.0, 0.1 * 2.0 ** min(attempt, 10)) * (0.5 + random.random() / 2))


def is_passing(error: DockError) -> bool:
    """Return True if the same request may succeed in a moment."""
    return (
        isinstance(error, DockConnectionError)
        or error.code in _PASSING
        or (isinstance(error, DockApiError) and error.code == "bad_response" and error.status in (502, 503, 504))
    )


class RetryPlan:
    """Decides about the attempts of one call."""

    def __init__(self, retries: int, retry_after_seconds_max: float, *, is_safe: bool) -> None:
        """`is_safe`: the effect of the request is the same if it is carried out twice."""
        self._retries = retries
        self._retry_after_max = retry_after_seconds_max
        self._is_safe = is_safe
        self._attempts = 0
        self._polls = 0
        self._waiting_since: float | None = None

    def seconds_to_wait(self, error: DockError) -> float | None:
        """Return the seconds to wait before the next attempt, or None to give up."""
        if self._retries == 0 or not isinstance(error, (DockApiError, DockConnectionError)):
            return None
        if error.code == "idempotency_in_progress":
            now = time.monotonic()
            self._waiting_since = self._waiting_since or now
            self._polls += 1
            waited = now - self._waiting_since
            return None if waited > _IN_PROGRESS_SECONDS else max(backoff_seconds(self._polls), _asked(error))
        self._attempts += 1
        may_repeat = error.code in _REFUSED or (self._is_safe and is_passing(error))
        if not may_repeat or self._attempts > self._retries:
            return None
        if not isinstance(error, DockApiError) or error.retry_after_seconds is None:
            return backoff_seconds(self._attempts)
        asked = error.retry_after_seconds
        return None if asked > self._retry_after_max else asked


def _asked(error: DockError) -> float:
    seconds = error.retry_after_seconds if isinstance(error, DockApiError) else None
    return min(seconds or 0.0, 30.0)


class Patience:
    """Counts how long nothing has succeeded, for work that is harmless to repeat."""

    def __init__(self) -> None:
        self._failing_since: float | None = None
        self._attempts = 0

    def renew(self) -> None:
        """Note a success."""
        self._failing_since = None
        self._attempts = 0

    def seconds_to_wait(self, error: DockError) -> float:
        """Return the wait before the next attempt. Raise the error if it will not pass, or took too long."""
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        is_temporary = is_passing(error) or error.code == "exec_busy"
        if not is_temporary or now - self._failing_since > _PATIENCE_SECONDS:
            raise error
        self._attempts += 1
        return backoff_seconds(self._attempts)
