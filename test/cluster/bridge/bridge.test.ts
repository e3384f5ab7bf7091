import { execFile } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { Bridge } from "../../../src/cluster/bridge/bridge.ts";
import { frameParts, readFrames } from "../../../src/cluster/protocol/frames.ts";
import { PROTOCOL_VERSION } from "../../../src/cluster/protocol/protocol.ts";
import { fileFolder } from "../../support/file_folder.ts";

const folder = fileFolder();
const HELLO = { kind: "hello", protocol: PROTOCOL_VERSION, python: "3", dask: "1", distributed: "1" };
const bytesOf = (record: object, ...buffers: Uint8Array[]) => Buffer.concat(frameParts(record, buffers));

/** A program that says hello and at the first request leaves these bytes and is killed; its path. */
function killedBridge(last: Uint8Array): string {
  const file = (name: string) => join(folder, name);
  const path = file("python");
  writeFileSync(file("hello"), bytesOf(HELLO));
  writeFileSync(file("last"), last);
  writeFileSync(path, `#!/bin/sh\ncd ${folder}\ncat hello\nhead -c 1 > asked\ncat last\nkill -9 $$\n`);
  chmodSync(path, 0o755);
  return path;
}

describe("a bridge that is killed", () => {
  const answer = bytesOf({ id: 1, kind: "answer" }, new Uint8Array(1000));

  test("within a frame is a bridge that ended", async () => {
    const bridge = await Bridge.start({ python: killedBridge(answer.subarray(0, 500)) });
    try {
      await expect(bridge.gather(["out", 0])).rejects.toThrow("E611 the bridge to Dask ended: SIGKILL\n");
    } finally {
      await bridge.close();
    }
  });

  test("has given the frames before, wherever the last one breaks off", async () => {
    for (const end of [1, 15, 16, 20, 30, 500, answer.length - 1]) {
      const records: unknown[] = [];
      const stream = Readable.from([bytesOf({ id: 0 }), answer.subarray(0, end)]);
      for await (const { record } of readFrames(stream)) records.push(record);
      expect(records, `${end}`).toEqual([{ id: 0 }]);
    }
  });
});

describe("a bridge that cannot be started", () => {
  test("because its program is missing, names it", async () => {
    const started = Bridge.start({ python: "/nowhere/python" });
    await expect(started).rejects.toThrow(
      "E602 no Python with Dask's distributed was found (tried /nowhere/",
    );
  });

  test("because the process may open no more files, says so", async () => {
    const module = pathToFileURL(join(import.meta.dirname, "../../../src/cluster/bridge/bridge.ts"));
    const program = `import { openSync } from "node:fs";
      import { Bridge } from "${module}";
      try {
        for (;;) openSync("/dev/null");
      } catch {}
      await Bridge.start({ python: "python3" }).catch(({ message }) => console.log(message));
      await new Promise(setImmediate);`;
    const limited = `ulimit -n 100; exec "$0" --input-type=module -e "$1"`;
    const { stdout } = await promisify(execFile)("sh", ["-c", limited, process.execPath, program]);
    expect(stdout).toBe("E611 the bridge to Dask ended: spawn python3 EMFILE\n  run again\n");
  });
});
