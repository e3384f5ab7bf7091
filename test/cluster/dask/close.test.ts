import { expect, test } from "vitest";
import { hasDask } from "../../support/needs.ts";
import { printed } from "../support/python_script.ts";

/** Closes a bridge with results under way, and one without; prints what each asks of the cluster. */
const SCRIPT = `
import asyncio
from types import SimpleNamespace
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
    bridge.job = SimpleNamespace(name="job")
    bridge.pool = "pool"
    await bridge.close()

for futures in ({"a": "a", "b": "b"}, {}):
    asyncio.run(closed(futures))
`;

test.runIf(await hasDask())("a bridge that closes takes its tasks back before what they need", async () => {
  const brought = ["unregister job", "unregister pool", "close"];
  expect(await printed(SCRIPT)).toEqual(["cancel a b", ...brought, ...brought]);
});
