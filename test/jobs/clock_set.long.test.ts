import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { faketimeLibrary, hasFaketime } from "../support/needs.ts";
import { JobFolder, ROOT, realBars } from "./job_folder.ts";

/** Far less than the day by which the clock is set, and enough for machines under load. */
const NOTICED_MS = 120_000;

/** A service whose clock is set while it runs. */
class FakedService {
  readonly child: ChildProcess;
  readonly #offsetPath: string;
  #written = "";

  constructor(folder: JobFolder, library: string) {
    this.#offsetPath = join(folder.path, "clock");
    this.setClock("+0");
    this.child = spawn(process.execPath, [join(ROOT, "dist/src/cli/main.js"), "run", folder.config], {
      stdio: ["ignore", "ignore", "pipe"],
      env: {
        ...process.env,
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: this.#offsetPath,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
      },
    });
    this.child.stderr!.on("data", (text) => {
      this.#written += text;
    });
  }

  /** Offset from the true time, e.g. `-1d`. */
  setClock(offset: string): void {
    writeFileSync(`${this.#offsetPath}.tmp`, offset);
    renameSync(`${this.#offsetPath}.tmp`, this.#offsetPath);
  }

  async says(text: string): Promise<void> {
    const deadline = performance.now() + NOTICED_MS;
    while (!this.#written.includes(text)) {
      if (performance.now() > deadline) throw new Error(`no ${text} in ${this.#written}`);
      await wait(50);
    }
  }
}

describe.runIf(await hasFaketime())("a clock that is set while jobs run", () => {
  test("back by a day and forth by two days silences no job, and no row is lost or doubled", async () => {
    using folder = new JobFolder();
    const bars = realBars(3, 5);
    const committed = async () => {
      using ledger = await folder.ledger();
      return ledger.sequence;
    };
    const service = new FakedService(folder, (await faketimeLibrary())!);
    try {
      folder.addBars(bars[0]!);
      await expect.poll(committed, { timeout: NOTICED_MS }).toBe(1);
      service.setClock("-1d");
      folder.addBars(bars[1]!);
      await expect.poll(committed, { timeout: NOTICED_MS }).toBe(2);
      await service.says("the clock was set back");
      service.setClock("+1d");
      folder.addBars(bars[2]!);
      await expect.poll(committed, { timeout: NOTICED_MS }).toBe(3);
      await service.says('"msg":"missed"');
    } finally {
      service.child.kill("SIGKILL");
      await once(service.child, "exit");
    }
    expect(await folder.runBuilt()).toBeNull();
    expect(await folder.results()).toEqual(await folder.expected(bars));
  }, 600_000);
});
