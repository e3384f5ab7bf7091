"""Runs Dask's scheduler or worker as a part of a local cluster: `local_process.py scheduler|worker OPTION...`, with the
settings in FACTORLOOM_DASK_DEFAULTS where the user's own, of files or of the environment, say nothing.

The process leads a group of its own. When the pipe on its stdin ends, because whoever started it is gone, it ends
itself and with it all that it has started.
"""

import json
import os
import signal
import sys
import threading


def end_with_parent():
    while os.read(0, 4096):
        pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


def set_defaults(variables):
    """Settings of Dask, as variables of the environment, that the user has not made in any way."""
    import dask

    own = dask.config.collect()
    for name, value in variables.items():
        key = name.removeprefix("DASK_").lower().replace("__", ".")
        if dask.config.get(key, None, own) is None:
            os.environ[name] = value
    dask.config.refresh()


# Processes that multiprocessing starts load this file again, under another name.
if __name__ == "__main__":
    # The files beside this one are not for Dask to import.
    del sys.path[0]
    set_defaults(json.loads(os.environ.pop("FACTORLOOM_DASK_DEFAULTS", "{}")))
    if sys.argv.pop(1) == "scheduler":
        from distributed.cli.dask_scheduler import main
    else:
        from distributed.cli.dask_worker import main
    threading.Thread(target=end_with_parent, daemon=True).start()
    main()
