"""The connection to Ray: one per process, opened for the first cluster that needs it and closed with the last one."""
from __future__ import annotations

import math
import os
import socket
import time
from typing import Any

from cypool.engine import cpus

_users = 0
_connected = _here = False


def ray_or_explain() -> Any:
    """Returns the module.

    Raises:
        ImportError: Ray is not installed; the message names the command that installs it.
    """
    try:
        import ray
    except ImportError as error:
        raise ImportError('cypool.cluster needs Ray: pip install "cypool[cluster]"') from error
    return ray


def starts_here(address: str | None) -> bool:
    """Whether `enter` would start Ray on this machine."""
    return not ray_or_explain().is_initialized() and not (address or os.environ.get("RAY_ADDRESS"))


def enter(address: str | None, ray_init: dict[str, Any], timeout: float) -> bool:
    """Connects to Ray, or starts it on this machine.

    Args:
        address: The address of a cluster; None: the one in RAY_ADDRESS, or if there is none, Ray is started here. An
            existing connection is kept.
        ray_init: More arguments for `ray.init`.
        timeout: Seconds that a cluster has to answer, or Ray's processes have to start here.

    Returns:
        Whether Ray was started here, by this call or an earlier one.

    Raises:
        TimeoutError: Nothing answers at the address.
        RuntimeError: Ray does not start here.
    """
    global _users, _connected, _here
    ray = ray_or_explain()
    if not ray.is_initialized():
        arguments: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
        here = starts_here(address)
        if here:
            # cypool started this Ray, and the user has not agreed to usage reports
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            # Ray's limits are 30 and 60 s, which a first start can exceed: it reads hundreds of megabytes from disk
            for name in ("gcs_server_port_wait_time_s", "worker_register_timeout_seconds"):
                os.environ.setdefault(f"RAY_{name}", str(math.ceil(min(max(timeout, 60), 120))))
            arguments |= {"address": "local", "num_cpus": cpus.available(), "include_dashboard": False}
        else:
            arguments["address"] = address or os.environ["RAY_ADDRESS"]
            _await(arguments["address"], timeout)
        _init(ray, here, {**arguments, **ray_init})
        _connected, _here = True, here
    _users += 1
    return _here


def _init(ray: Any, here: bool, arguments: dict[str, Any]) -> None:
    """Calls `ray.init`; if Ray does not start on this machine, a second time, for which its files are in memory."""
    for attempt in (1, 2):
        try:
            ray.init(**arguments)
            return
        except (TypeError, ValueError):
            # of the arguments
            raise
        except Exception as error:
            if not here:
                raise
            if attempt == 2:
                raise RuntimeError("Ray did not start on this machine in two attempts: run the program again, or look "
                                   f"at Ray's logs, by default in /tmp/ray/session_latest/logs. Ray's error: {error}"
                                   ) from error


def _await(address: str, timeout: float) -> None:
    """Waits until a server listens at "host:port"; Ray itself would wait for many minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        return
    until = time.monotonic() + timeout
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), max(0.1, until - time.monotonic())).close()
            return
        except (OSError, OverflowError) as error:
            if time.monotonic() + 0.2 > until:
                raise TimeoutError(f"address: expected a Ray cluster that answers at {address} within {timeout:g} s, "
                                   f"got {error!r}") from None
        time.sleep(0.2)


def ends_with_one_less() -> bool:
    """Whether the next `leave` ends a Ray that `enter` started on this machine, and everything in it."""
    return _users == 1 and _connected and _here


def leave() -> None:
    """Ends the connection if this was the last user and `enter` began it."""
    global _users, _connected, _here
    _users -= 1
    if _users == 0 and _connected:
        _connected = _here = False
        ray_or_explain().shutdown()
