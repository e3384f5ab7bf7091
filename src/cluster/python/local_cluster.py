"""Runs Dask's LocalCluster on loopback: `local_cluster.py OPTIONS`, its options as JSON.

Once all workers have joined, the script prints a line of JSON: {"address", "dashboard"}. It leads a session of its own.
SIGTERM and the end of its stdin, because its parent has ended, close the cluster and kill what is left of the session. The
end of the scheduler, or a failed start, ends the script with status 1.
"""

import importlib
import json
import os
import queue
import shutil
import signal
import sys
import threading
import traceback

# How long the cluster may take to close before it is killed.
GRACE_SECONDS = 2

# Lost workers are noticed within 30 s, connections within a machine need no compression, and Dask's own sampling, which
# would take a tenth of two cores, is rare.
SETTINGS = {
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "30s",
    "DASK_DISTRIBUTED__COMM__COMPRESSION": "None",
    "DASK_DISTRIBUTED__WORKER__PROFILE__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
}
MESSAGE_LIMIT = "DASK_DISTRIBUTED__WORKER__TRANSFER__MESSAGE_BYTES_LIMIT"


def set_defaults(memory_limit):
    """Puts settings into the environment, which workers inherit, except those that the user has made."""
    import dask

    own = dask.config.collect()
    # Messages are limited because they are in memory twice, which Dask does not count.
    limit = max(2**20, min(memory_limit / 32 or 50e6, 50e6))
    for name, value in {**SETTINGS, MESSAGE_LIMIT: str(int(limit))}.items():
        key = name.removeprefix("DASK_").lower().replace("__", ".")
        if dask.config.get(key, None, own) is None:
            os.environ[name] = value
    dask.config.refresh()


def dashboard_of(scheduler_info):
    """A link, or None without bokeh, which draws it."""
    try:
        importlib.import_module("distributed.dashboard.scheduler")
    except ImportError:
        return None
    return f"http://127.0.0.1:{scheduler_info['services']['dashboard']}/status"


def run(options, report, clusters):
    """Returns when the scheduler has ended."""
    set_defaults(options["memory_limit"])
    from distributed import LocalCluster, Nanny

    class NamedNanny(Nanny):
        def __init__(self, *args, name, **more):
            super().__init__(*args, name=f"worker-{name}", **more)

    any_port = {name: "127.0.0.1:0" for name in ("dashboard_address", "worker_dashboard_address")}
    cluster = LocalCluster(worker_class=NamedNanny, host="127.0.0.1", **any_port, **options)
    clusters.append(cluster)
    started = {"address": cluster.scheduler_address, "dashboard": dashboard_of(cluster.scheduler_info)}
    print(json.dumps(started), file=report, flush=True)
    cluster.sync(cluster.scheduler.finished)


def main(options):
    # Everything else that is printed goes to stderr.
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Why the cluster is to end; None if that is asked for.
    ends = queue.SimpleQueue()
    clusters = []

    def watch_parent():
        while os.read(0, 4096):
            pass
        ends.put(None)

    def run_cluster():
        try:
            run(options, report, clusters)
            ends.put("the scheduler has ended")
        except Exception:
            # Without the lines of Dask's code, above which a worker has said what is wrong.
            ends.put(traceback.format_exc(limit=0))

    signal.signal(signal.SIGTERM, lambda *_: ends.put(None))
    for work in (watch_parent, run_cluster):
        threading.Thread(target=work, daemon=True).start()
    reason = ends.get()
    closing = threading.Thread(target=lambda: [cluster.close() for cluster in clusters], daemon=True)
    closing.start()
    closing.join(GRACE_SECONDS)
    shutil.rmtree(options["local_directory"], ignore_errors=True)
    if reason is None:
        os.killpg(0, signal.SIGKILL)
    print(reason, file=sys.stderr, flush=True)
    os._exit(1)


# Processes that multiprocessing starts load this file again, under another name.
if __name__ == "__main__":
    # Dask must not import the files beside this one.
    del sys.path[0]
    main(json.loads(sys.argv[1]))
