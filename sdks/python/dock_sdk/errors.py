"""The errors of the SDK. `code` tells them apart; a class stands for each kind of failure."""

from __future__ import annotations


class DockError(Exception):
    """Any failure that the SDK reports."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        #: A code of the contract, or one of the SDK's own: `connection_failed`, `output_lost`, …
        self.code = code
        self.message = message


class DockConnectionError(DockError):
    """The service could not be reached, or the connection broke. `__cause__` is the error of httpx."""

    def __init__(self, message: str) -> None:
        super().__init__("connection_failed", message)


class ClosedError(DockError):
    """The client was closed, or belongs to an event loop that has ended."""

    def __init__(self, message: str) -> None:
        super().__init__("client_closed", message)


class OutputLostError(DockError):
    """Output of a process is no longer kept: it was written faster than it was read."""

    def __init__(self, message: str) -> None:
        super().__init__("output_lost", message)


class LocalFileError(DockError):
    """A file or folder of this computer cannot be written or read as asked."""

    def __init__(self, message: str) -> None:
        super().__init__("local_file", message)


class DockApiError(DockError):
    """An unsuccessful response: the service's stable code, the HTTP status, and a message for people."""

    def __init__(
        self, code: str, status: int, message: str, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(code, message)
        self.status = status
        #: The seconds of the header `Retry-After`, or None.
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class BadRequestError(DockApiError):
    """400: the request is not valid."""


class UnauthorizedError(DockApiError):
    """401: credentials are missing or no longer valid."""


class ForbiddenError(DockApiError):
    """402 and 403: the caller may not do this."""


class NotFoundError(DockApiError):
    """404: there is no such thing, or the caller may not see it."""


class ConflictError(DockApiError):
    """409: the current state does not allow this."""


class RateLimitError(DockApiError):
    """429: too many requests."""


class CapacityError(DockApiError):
    """`capacity_exhausted`, `no_host_capacity` or `base_image_unavailable`: no host can take the Dock now."""


class ServiceError(DockApiError):
    """Every other status from 500 on."""


_CAPACITY_CODES = ("capacity_exhausted", "no_host_capacity", "base_image_unavailable")
_CLASSES: dict[int, type[DockApiError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    402: ForbiddenError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def api_error(status: int, code: str, message: str, retry_after: float | None) -> DockApiError:
    """Create the error of an unsuccessful response."""
    if code in _CAPACITY_CODES:
        return CapacityError(code, status, message, retry_after)
    kind = _CLASSES.get(status, ServiceError if status >= 500 else DockApiError)
    return kind(code, status, message, retry_after)


def has_code(error: BaseException, *codes: str) -> bool:
    """Return True if `error` is a failure of the SDK with one of these codes."""
    return isinstance(error, DockError) and error.code in codes
