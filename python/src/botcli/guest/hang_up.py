"""Whether anybody is at the other end."""

from __future__ import annotations

import select
import socket


def is_hung_up(sock: socket.socket) -> bool:
    """Whether the other end of a connected socket is closed."""
    if sock.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(sock, 0)
    return any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))
