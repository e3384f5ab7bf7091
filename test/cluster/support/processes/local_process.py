"""Runs Dask's scheduler or worker: `local_process.py scheduler|worker OPTION...`.

The process leads a group of its own. When the pipe on its stdin ends, because its parent has ended, it kills the group.
"""

import os
import signal
import sys
import threading


def end_with_parent():
    while os.read(0, 4096):
        pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


# Processes that multiprocessing starts load this file again, under another name.
if __name__ == "__main__":
    if sys.argv.pop(1) == "scheduler":
        from distributed.cli.dask_scheduler import main
    else:
        from distributed.cli.dask_worker import main
    threading.Thread(target=end_with_parent, daemon=True).start()
    main()
