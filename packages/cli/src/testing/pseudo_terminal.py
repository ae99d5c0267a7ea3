"""Runs a command on a terminal of its own: keys come by stdin, the screen goes to stdout."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

COLUMNS, ROWS = 160, 50


def main() -> int:
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    # Who drives us signals the command itself, so that it has to know it.
    os.write(2, f"{child}\n".encode())
    sources = [terminal, 0]
    while terminal in sources:
        ready, _, _ = select.select(sources, [], [])
        for source in ready:
            try:
                data = os.read(source, 65536)
            except OSError:
                data = b""
            if not data:
                sources.remove(source)
                # Without its keyboard the terminal goes away, as a closed window does.
                if source == 0:
                    os.close(terminal)
                    sources.clear()
                    break
            else:
                os.write(terminal if source == 0 else 1, data)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) & 0xFF


sys.exit(main())
