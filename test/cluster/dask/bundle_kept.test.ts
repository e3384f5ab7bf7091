import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { fileFolder } from "../../support/file_folder.ts";
import { hasDask } from "../../support/needs.ts";
import { printed } from "../support/python_script.ts";

const folder = fileFolder();

/** Two clients bring one bundle to a worker; prints whether the code is there as each begins, and at the end. */
const SCRIPT = `
import asyncio, hashlib, io, os, zipfile
from distributed import Scheduler, Worker
from worker_plugin import Bundle

class Watched(Bundle):
    async def setup(self, worker):
        self.print_state(worker)
        await super().setup(worker)

    def print_state(self, worker):
        print(os.path.isfile(os.path.join(worker.local_directory, self.name, "main.mjs")))

async def main():
    bytes = io.BytesIO()
    with zipfile.ZipFile(bytes, "w") as file:
        file.writestr("main.mjs", "code")
    data = bytes.getvalue()
    async with Scheduler(host="127.0.0.1", port=0, dashboard_address="127.0.0.1:0") as scheduler:
        async with Worker(scheduler.address, nthreads=1, local_directory=sys.argv[1]) as worker:
            for _ in range(2):
                bundle = Watched("bundle", hashlib.sha256(data).hexdigest(), data)
                await worker.plugin_add(plugin=bundle, name=bundle.name)
            bundle.print_state(worker)
            assert bundle.changed() is None
    bundle.print_state(worker)

asyncio.run(main())
`;

test.runIf(await hasDask())(
  "code stays while another client brings it, and goes with the worker",
  async () => {
    expect(await printed(SCRIPT, folder)).toEqual(["False", "True", "True", "False"]);
    const left = readdirSync(folder, { recursive: true }).map(String);
    expect(left.filter((name) => name.includes("main.mjs"))).toEqual([]);
  },
);
