/** The files of a job: its ledger, its checkpoints, the rows of its query. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeDurableFolder, writeDurably } from "../../files/durable.ts";
import { digestOf, readFully } from "../../files/large_bytes.ts";
import { Ledger } from "./ledger.ts";
import type { PreparedBatch } from "./records.ts";
import { storing } from "./storing.ts";

type Checkpoint = PreparedBatch["checkpoint"];

const CHECKPOINTS_KEPT = 2;

export class JobStore implements Disposable {
  readonly ledger: Ledger;
  readonly #folder: string;

  /** With `read` nothing is changed. @throws as `Ledger.open`; ResourceError E442 for a system error. */
  static async open(journal: string, job: string, access: "read" | "write" = "write"): Promise<JobStore> {
    const folder = join(journal, job);
    const path = join(folder, "ledger.sqlite");
    if (access === "write") await storing(folder, () => makeDurableFolder(folder));
    return new JobStore(folder, await storing(path, () => Ledger.open(path, job, access)));
  }

  private constructor(folder: string, ledger: Ledger) {
    this.#folder = folder;
    this.ledger = ledger;
  }

  /** Folder of the files that hold the rows of a query. */
  get queryFolder(): string {
    return join(this.#folder, "input");
  }

  async writeCheckpoint(sequence: number, bytes: Uint8Array): Promise<Checkpoint> {
    const file = `checkpoint-${String(sequence).padStart(8, "0")}.bin`;
    const sha256 = digestOf(bytes).toString("hex");
    await storing(this.#folder, () => writeDurably(join(this.#folder, file), [bytes]));
    return { file, sha256 };
  }

  /** The bytes of a checkpoint; null if they are missing or damaged. */
  async readCheckpoint(checkpoint: Checkpoint | null): Promise<Uint8Array | null> {
    if (checkpoint === null) return null;
    const { file, sha256 } = checkpoint;
    const bytes = await readFully(join(this.#folder, file)).catch(() => null);
    return bytes !== null && digestOf(bytes).toString("hex") === sha256 ? bytes : null;
  }

  /** Removes outdated and unfinished checkpoints. */
  async removeOldCheckpoints(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.startsWith("checkpoint-")).sort();
    const last = this.ledger.batch?.checkpoint?.file ?? "";
    const finished = names.filter((name) => name.endsWith(".bin") && name <= last);
    const kept = new Set(finished.slice(-CHECKPOINTS_KEPT));
    for (const name of names) if (!kept.has(name)) await rm(join(this.#folder, name), { force: true });
  }

  [Symbol.dispose](): void {
    this.ledger[Symbol.dispose]();
  }
}
