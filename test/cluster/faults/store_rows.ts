import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { slabName, tilePath } from "../../../src/cluster/protocol/tiles.ts";
import { inNamespace } from "../../support/namespaces.ts";
import { until } from "../../support/until.ts";
import { foundTiles } from "../support/fault_setting.ts";
import { filesBelow, openSmallStore, type SmallStore } from "../support/small_store.ts";
import { kill, ONE, type RunRow, type Scene } from "./fault_row.ts";

const WORKER = /worker (worker-\d+|apart) \(tcp:\S+\) on \S+/.source;
const mount = (...args: string[]) => execFileSync("mount", args);

/** Of the last slab: two of its three blocks wait at the gate, the third is to read it. */
async function lateTile({ setting, started }: Scene) {
  const { stages, folder } = started.run.job;
  const lanes = stages.findLastIndex(({ kind }) => kind === "lanes");
  const executors = await setting.gate.waiting(2);
  return { path: join(folder!, tilePath(lanes, 3, 0)), executors };
}

async function deleteTile(scene: Scene): Promise<readonly number[]> {
  const { path, executors } = await lateTile(scene);
  rmSync(path);
  return executors;
}

const noTileStays = ({ setting }: Scene) => expect(filesBelow(setting.store)).toEqual([]);

const small = new WeakMap<Scene, SmallStore>();
const inSmallStore = (scene: Scene) => {
  const store = openSmallStore(scene.setting.folder);
  scene.defer(() => store.close());
  small.set(scene, store);
  return { store: store.path };
};

/** A folder becomes read-only, until the end of the row or of `undo`. */
async function makeReadOnly(scene: Scene, path: string): Promise<void> {
  // Over itself: what is open for writing would keep it from being remounted.
  mount("--bind", path, path);
  scene.defer(() => makeWritable(path));
  // The executor that does not wait at the gate may be writing.
  await until(() => {
    try {
      mount("-o", "remount,bind,ro", path);
    } catch {
      return false;
    }
    return true;
  });
}

function makeWritable(path: string): void {
  try {
    execFileSync("umount", ["--lazy", path], { stdio: "ignore" });
  } catch {
    // It is writable already.
  }
}

const hidden = ({ setting }: Scene) => join(setting.folder, "hidden");

/** A worker, called `apart`, that sees an empty folder of its own where the client has `hidden`. */
async function startApart(scene: Scene): Promise<{ workers: readonly string[] }> {
  const place = hidden(scene);
  mkdirSync(place, { recursive: true });
  const mounting = [...inNamespace("--mount"), "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"', place];
  const folder = ["--local-directory", join(scene.setting.folder, "apart")];
  await scene.startDask(
    ["worker", scene.setting.dask.address, ...ONE, "--name", "apart", ...folder],
    mounting,
  );
  await until(async () => (await scene.setting.counts()).workers === 3);
  return { workers: ["apart"] };
}

const [EARLY, LATE] = ["in its first slab", "in its last slab"] as const;
const TILE = { moment: LATE, modes: ["store"], also: noTileStays } as const;
const FULL = { fault: "the store has no room", modes: ["store"], options: inSmallStore } as const;
const APART = { moment: "while it connects", modes: ["store"], needs: "mount" } as const;
const notShared = (path: string) => ({
  code: "E614",
  says: new RegExp(
    `^E614 \\S+/hidden/${path} is not shared: worker apart \\(tcp:\\S+\\) on \\S+ does not see there what`,
  ),
});

/** Tiles, and folders that cannot be written any more or are not those of the client. */
export const STORE_ROWS: readonly RunRow[] = [
  // Who has it open reads on.
  { ...TILE, fault: "a tile is deleted", inflict: deleteTile, expected: { restarts: 0 } },
  {
    ...TILE,
    fault: "a tile is deleted, and no process has it open",
    inflict: async (scene) => kill(...(await deleteTile(scene))),
    expected: { restarts: 1 },
  },
  {
    ...TILE,
    fault: "a tile is cut short",
    inflict: async (scene) => truncateSync((await lateTile(scene)).path, 8),
    expected: { restarts: 1 },
  },
  {
    ...FULL,
    moment: EARLY,
    inflict: async (scene) => {
      await scene.setting.gate.waiting(2);
      small.get(scene)!.fill(join(scene.started.run.job.folder!, slabName(3)));
    },
    expected: {
      code: "E609",
      name: "ResourceError",
      says: /^E609 worker worker-\d+ \(tcp:\S+\) on \S+ cannot write .*: E(NOSPC|NOTDIR): .*\n {2}check the free space/,
    },
    also: async (scene) => {
      const folder = scene.started.run.job.folder!;
      await until(() => scene.setting.isFree());
      const left = filesBelow(folder).filter((name) => /tmp$|owner/.test(name));
      expect(left, "neither parts of tiles nor a lock").toEqual([]);
      small.get(scene)!.free(join(folder, slabName(3)));
    },
    next: (next, { started }) => {
      expect(next.run.job.folder).toBe(started.run.job.folder);
      expect(foundTiles(next)).toBeGreaterThan(5);
    },
  },
  {
    ...FULL,
    moment: "between two runs",
    inflict: (scene) => small.get(scene)!.fill(scene.started.run.job.folder!),
    expected: { code: "E609" },
    also: (scene) => small.get(scene)!.free(scene.started.run.job.folder!),
    // No lock stays.
    next: (next, { started }) => expect(next.run.job.folder).toBe(started.run.job.folder),
  },
  {
    fault: "the store becomes read-only",
    moment: EARLY,
    modes: ["store"],
    needs: "mount",
    inflict: (scene) => makeReadOnly(scene, scene.setting.store),
    expected: {
      code: "E609",
      name: "ResourceError",
      says: new RegExp(
        `^E609 (${WORKER}|the client) cannot write \\S+: EROFS: .*\\n {2}check the free space`,
      ),
    },
    also: ({ setting }) => makeWritable(setting.store),
    next: () => {},
  },
  {
    fault: "the folder of the result becomes read-only",
    moment: EARLY,
    needs: "mount",
    run: ({ setting }) => ({ dataset: join(setting.folder, "out") }),
    inflict: (scene) => makeReadOnly(scene, join(scene.setting.folder, "out")),
    expected: { code: "E609", says: new RegExp(`^E609 ${WORKER} cannot write \\S+`) },
  },
  {
    ...APART,
    fault: "a worker sees another file system where the store is",
    inflict: async (scene) => ({ ...(await startApart(scene)), store: join(hidden(scene), "store") }),
    expected: notShared("store/\\S+"),
  },
  {
    ...APART,
    fault: "a worker sees another file system where the folder of the result is",
    run: (scene) => ({ dataset: join(hidden(scene), "out") }),
    inflict: startApart,
    expected: notShared("out"),
  },
];
