import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { hasDask } from "../../support/needs.ts";

const PYTHON = join(import.meta.dirname, "../../../src/cluster/python");

/** Closes a bridge with results under way, and one without; prints what each asks of the cluster. */
const SCRIPT = `
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from bridge import Bridge

class Cluster:
    status = "running"

    @property
    def client(self):
        return self

    async def cancel(self, futures):
        print("cancel", *futures)

    async def unregister(self, name):
        print("unregister", name)

    async def close(self):
        print("close")

async def closed(futures):
    bridge = Bridge(1)
    bridge.connection = Cluster()
    bridge.futures.update(futures)
    bridge.jobs["digest"] = "job"
    bridge.pool = "pool"
    await bridge.close()

for futures in ({"a": "a", "b": "b"}, {}):
    asyncio.run(closed(futures))
`;

test.runIf(await hasDask())("a bridge that closes takes its tasks back before what they need", async () => {
  const { path } = await findPython();
  const { stdout } = await promisify(execFile)(path, ["-B", "-c", SCRIPT, PYTHON]);
  const brought = ["unregister job", "unregister pool", "close"];
  expect(stdout.trimEnd().split("\n")).toEqual(["cancel a b", ...brought, ...brought]);
});
