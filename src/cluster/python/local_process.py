"""Runs Dask's scheduler or worker as a part of a local cluster: `local_process.py scheduler|worker OPTION...`.

Settings in FACTORLOOM_DASK_DEFAULTS apply where the user's files and environment have none. The process leads a group of
its own. When the pipe on its stdin ends, because its parent has ended, it kills the group.
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
    """Puts settings of Dask into the environment, except those that the user has made."""
    import dask

    own = dask.config.collect()
    for name, value in variables.items():
        key = name.removeprefix("DASK_").lower().replace("__", ".")
        if dask.config.get(key, None, own) is None:
            os.environ[name] = value
    dask.config.refresh()


# Processes that multiprocessing starts load this file again, under another name.
if __name__ == "__main__":
    # Dask must not import the files beside this one.
    del sys.path[0]
    set_defaults(json.loads(os.environ.pop("FACTORLOOM_DASK_DEFAULTS", "{}")))
    if sys.argv.pop(1) == "scheduler":
        from distributed.cli.dask_scheduler import main
    else:
        from distributed.cli.dask_worker import main
    threading.Thread(target=end_with_parent, daemon=True).start()
    main()
