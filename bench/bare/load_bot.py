"""The least that can have a bot loaded: imports the file, says when that was done, and waits.

With a number, it waits in so many processes that were forked after the import.
"""

import gc
import importlib.util
import os
import sys
import time

path = sys.argv[1]
forks = int(sys.argv[2]) if len(sys.argv) > 2 else 0
spec = importlib.util.spec_from_file_location("bot", path)
spec.loader.exec_module(importlib.util.module_from_spec(spec))
loaded_at = time.monotonic_ns()
gc.collect()
gc.freeze()
for _ in range(forks):
    if os.fork() == 0:
        break
else:
    print(f'{{"loadedAt": "{loaded_at}"}}', flush=True)
time.sleep(600)
