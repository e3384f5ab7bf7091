import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryBudget } from "../../../src/evaluation/memory/memory_budget.ts";
import type { MemoryThresholds } from "../../../src/evaluation/memory/thresholds.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";

const MIB = 2 ** 20;
/** What a process of one thread takes for itself. */
const OWN = 300 * MIB;
const LIMIT = 1000 * MIB;

let rss = 0;
/** The process takes so much beside its own. */
const processTakes = (mebibytes: number) => {
  rss = OWN + mebibytes * MIB;
};
const threads = { collectGarbage: vi.fn() };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  vi.spyOn(process.memoryUsage, "rss").mockImplementation(() => rss);
  threads.collectGarbage.mockReset();
  processTakes(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const need = (mebibytes: number, lasts = false) => {
  return { bytes: { results: mebibytes * MIB }, held: [], remedy: "do something", lasts };
};
const budgetOf = (thresholds: MemoryThresholds = {}) => new MemoryBudget(LIMIT, { thresholds });
/** A budget whose owner wants calls refused by what the process takes. */
const refusing = () => budgetOf({ refuse: 0.95 });

/** A call that waits for its memory, and how it ended. */
function admitted(budget: MemoryBudget, mebibytes: number, signal?: AbortSignal) {
  const call: { release?: () => void; error?: Error; attempts: number } = { attempts: 0 };
  const ended = budget
    .admit(() => {
      call.attempts++;
      return budget.reserve(need(mebibytes));
    }, signal)
    .then(
      (release) => {
        call.release = release;
      },
      (error: Error) => {
        call.error = error;
      },
    );
  return Object.assign(call, { ended });
}

describe("a call that does not fit now", () => {
  test("waits until another one has ended", async () => {
    const budget = budgetOf();
    const release = budget.reserve(need(700));
    const call = admitted(budget, 400);
    await vi.advanceTimersByTimeAsync(5000);
    expect(budget.memory.waitingCount).toBe(1);
    expect(call).toMatchObject({ attempts: 1 });
    release();
    await call.ended;
    expect(call.attempts).toBe(2);
    expect(budget.memory).toMatchObject({ waitingCount: 0, managedBytes: 400 * MIB });
  });

  test("is refused at once if it would not fit alone, or beside what lasts", async () => {
    const budget = budgetOf();
    const release = budget.reserve(need(100));
    const alone = admitted(budget, 1001);
    await alone.ended;
    expect(alone.error?.message).toMatch(
      /^E401 the evaluation needs 1001.0 MiB \(results 1001.0 MiB\), the limit is 1000.0 MiB, of which 100.0 MiB are in use\n {2}do something$/,
    );
    budget.reserve(need(500, true));
    const beside = admitted(budget, 501);
    await beside.ended;
    expect(beside.error?.message).toContain("of which 600.0 MiB are in use");
    const later = admitted(budget, 450);
    release();
    await later.ended;
    expect(later.error).toBeUndefined();
  });

  test("is refused when the others have done nothing for 10 s, but not while they run or are planned", async () => {
    const budget = budgetOf();
    budget.reserve(need(700));
    await budget.admitBlock("one");
    const { promise: planned, resolve } = Promise.withResolvers<void>();
    const call = admitted(budget, 400);
    await vi.advanceTimersByTimeAsync(60_000);
    budget.endBlock("one");
    const planning = budget.admit(() => planned);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.error).toBeUndefined();
    resolve();
    await planning;
    await vi.advanceTimersByTimeAsync(9900);
    expect(call.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(300);
    expect(call.error?.message).toContain(
      "700.0 MiB are in use; the calls that use it have not gone on for 10 s\n",
    );
  });

  test("waits no longer when it is aborted or the engine is closed", async () => {
    const budget = budgetOf();
    budget.reserve(need(700));
    const controller = new AbortController();
    const [aborted, other] = [admitted(budget, 400, controller.signal), admitted(budget, 400)];
    controller.abort(new Error("enough"));
    await aborted.ended;
    expect(aborted.error?.message).toBe("enough");
    expect(budget.memory.waitingCount).toBe(1);
    budget.close(new Error("closed"));
    await other.ended;
    expect(other.error?.message).toBe("closed");
  });

  test("lets calls that fit go before it, and takes turns with others in order", async () => {
    const budget = budgetOf();
    const release = budget.reserve(need(700));
    const calls = [400, 500, 100].map((mebibytes) => admitted(budget, mebibytes));
    await calls[2]!.ended;
    calls[2]!.release!();
    release();
    await calls[0]!.ended;
    await calls[1]!.ended;
    expect(calls.map(({ attempts }) => attempts)).toEqual([2, 2, 1]);
  });

  test("leaves other errors alone", async () => {
    const failing = budgetOf().admit(() => Promise.reject(new Error("E401 of another kind")));
    await expect(failing).rejects.toThrow("of another kind");
  });
});

describe("a process that takes too much", () => {
  test(`begins what the engine itself has room for at once, in ${trials(200, 20_000)} histories of calls`, () => {
    const random = new Seeded();
    let refused = 0;
    for (let history = 0; history < trials(200, 20_000); history++) {
      const budget = budgetOf(random.below(2) === 0 ? {} : { spill: 0, pause: 0 });
      const open: { mebibytes: number; release: () => void }[] = [];
      for (let step = 0; step < 20; step++) {
        processTakes(random.below(3000));
        vi.advanceTimersByTime(random.below(1500));
        budget.noteClosed(0, threads); // Without threads that had plans it would be this one's garbage.
        const mebibytes = 1 + random.below(600);
        const fits = open.reduce((sum, call) => sum + call.mebibytes, mebibytes) <= 1000;
        if (fits) open.push({ mebibytes, release: budget.reserve(need(mebibytes, random.below(5) === 0)) });
        else expect(() => budget.reserve(need(mebibytes)), `seed ${random.seed}`).toThrow("the limit is");
        if (!fits) refused++;
        if (random.below(3) > 0) open.splice(random.below(open.length), 1)[0]?.release();
      }
      for (const { release } of open) release();
      expect(budget.usedBytes).toBe(0);
    }
    expect(refused).toBeGreaterThan(trials(200, 20_000));
  });

  test("lets calls in a row near the limit begin at once, and collects what those before them left", async () => {
    const budget = budgetOf();
    for (let i = 1; i <= 5; i++) {
      const call = admitted(budget, 900);
      await vi.advanceTimersByTimeAsync(0);
      expect(call).toMatchObject({ attempts: 1, release: expect.any(Function) });
      expect(threads.collectGarbage).toHaveBeenCalledTimes(i - 1);
      await vi.advanceTimersByTimeAsync(100);
      processTakes(950);
      budget.noteClosed(200 * MIB, threads);
      call.release!();
    }
  });

  test("collects not more than once a second where that makes no room", async () => {
    const budget = budgetOf();
    processTakes(2000);
    for (let i = 0; i < 28; i++) {
      budget.noteClosed(100 * MIB, threads);
      budget.reserve(need(100))();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(threads.collectGarbage).toHaveBeenCalledTimes(3);
  });

  test("begins no call above the share that is to refuse, nor one that would take it above the limit", async () => {
    const budget = refusing();
    processTakes(951);
    expect(() => budget.reserve(need(1))).toThrow(
      "E401 the evaluation needs 1.0 MiB (results 1.0 MiB), the limit is 1000.0 MiB and 300.0 MiB for the process " +
        "itself, which takes 1.2 GiB, 1.2 GiB of them unmanaged\n  let go of other memory",
    );
    processTakes(600);
    expect(() => budget.reserve(need(401))).toThrow("E401");
    budget.reserve(need(400))();
    // What a call holds is in the process already.
    const held = [new SharedArrayBuffer(500 * MIB)];
    budget.reserve({ ...need(400), held })();
    budgetOf().reserve(need(900))();
    processTakes(0);
    budget.reserve(need(1000))();
  });

  test("collects garbage, and the call goes on when that helped", async () => {
    const budget = refusing();
    processTakes(900);
    budget.noteClosed(10, threads);
    const call = admitted(budget, 200);
    await vi.advanceTimersByTimeAsync(100);
    expect(threads.collectGarbage).toHaveBeenCalledOnce();
    processTakes(300);
    await vi.advanceTimersByTimeAsync(60);
    expect(call.release).toBeDefined();
  });

  test("collects garbage also for a call that needs little", async () => {
    const budget = refusing();
    processTakes(850);
    budget.noteClosed(64 * MIB, threads);
    budget.reserve(need(1))();
    expect(threads.collectGarbage).toHaveBeenCalledOnce();
    processTakes(960);
    budget.noteClosed(10, threads);
    const call = admitted(budget, 1);
    await vi.advanceTimersByTimeAsync(1100);
    expect(threads.collectGarbage).toHaveBeenCalledTimes(2);
    processTakes(300);
    await vi.advanceTimersByTimeAsync(60);
    expect(call.release).toBeDefined();
  });

  test("refuses the call, if it is to, 2 s after the last one has ended", async () => {
    const budget = refusing();
    const release = budget.reserve(need(10));
    processTakes(900);
    const call = admitted(budget, 200);
    await vi.advanceTimersByTimeAsync(8000);
    expect(call.error).toBeUndefined();
    release();
    await vi.advanceTimersByTimeAsync(1900);
    expect(call.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(300);
    expect(call.error?.message).toContain("which takes 1.2 GiB");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("gives back closed plans above 70 %, and other garbage above 80 %", async () => {
    const budget = budgetOf();
    budget.reserve(need(10));
    budget.noteClosed(64 * MIB, threads);
    await vi.advanceTimersByTimeAsync(2000);
    expect(threads.collectGarbage).not.toHaveBeenCalled();
    processTakes(701);
    await vi.advanceTimersByTimeAsync(2000);
    expect(threads.collectGarbage).toHaveBeenCalledOnce();
  });

  test("is read only while calls are open", async () => {
    const budget = budgetOf();
    expect(vi.getTimerCount()).toBe(0);
    const release = budget.reserve(need(10));
    await vi.advanceTimersByTimeAsync(1000);
    expect(vi.getTimerCount()).toBe(1);
    release();
    await vi.advanceTimersByTimeAsync(1000);
    expect(vi.getTimerCount()).toBe(0);
    budget.reserve(need(10, true));
    await vi.advanceTimersByTimeAsync(1000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("results that wait", () => {
  test("stay in memory as far as the process takes less than 70 %", async () => {
    const [budget, off] = [budgetOf(), budgetOf({ spill: 0 })];
    for (const one of [budget, off]) one.reserve(need(1));
    expect([budget, off].map((one) => one.keep(100 * MIB))).toEqual([true, true]);
    processTakes(731);
    await vi.advanceTimersByTimeAsync(2000);
    expect([budget, off].map((one) => one.keep(10 * MIB))).toEqual([false, true]);
    expect(budget.memory).toMatchObject({ keptBytes: 100 * MIB });
    processTakes(600);
    await vi.advanceTimersByTimeAsync(2000);
    expect(budget.keep(10 * MIB)).toBe(true);
  });

  test("stay in memory as far as 60 % of the limit are managed", () => {
    const budget = budgetOf({ spill: 0 });
    const release = budget.reserve(need(555));
    expect([budget.keep(40 * MIB), budget.keep(10 * MIB)]).toEqual([true, false]);
    release();
    expect(budget.keep(10 * MIB)).toBe(true);
    expect(budget.memory).toMatchObject({ keptBytes: 50 * MIB, spilledBytes: 0 });
  });

  test("never take more than the limit, though the share is switched off", () => {
    const budget = budgetOf({ spill: 0, target: 0 });
    budget.reserve(need(900));
    expect([budget.keep(90 * MIB), budget.keep(20 * MIB)]).toEqual([true, false]);
  });

  test("are in use: a call waits until they are let go", async () => {
    const budget = budgetOf({ spill: 0 });
    budget.keep(500 * MIB);
    const release = budget.reserve(need(100));
    const call = admitted(budget, 450);
    await vi.advanceTimersByTimeAsync(1000);
    expect(call.release).toBeUndefined();
    budget.letGo(500 * MIB);
    await vi.advanceTimersByTimeAsync(100);
    expect(call.release).toEqual(expect.any(Function));
    release();
  });

  test("are awaited though no other call is open, but not if nothing goes on", async () => {
    const budget = budgetOf({ spill: 0 });
    budget.keep(500 * MIB);
    const call = admitted(budget, 600);
    await vi.advanceTimersByTimeAsync(9000);
    expect(call).toEqual({ attempts: 1, ended: expect.any(Promise) });
    budget.letGo(500 * MIB);
    await vi.advanceTimersByTimeAsync(100);
    expect(call.release).toEqual(expect.any(Function));
    budget.keep(100 * MIB);
    const other = admitted(budget, 600);
    await vi.advanceTimersByTimeAsync(11_000);
    expect(other.error?.message).toMatch(/^E401 .* have not gone on for 10 s/);
  });

  test("are counted on disk, and those that went there so far", () => {
    const budget = budgetOf();
    budget.noteSpilled(30);
    budget.noteSpilled(20);
    budget.noteSpilled(-30);
    expect(budget.memory).toMatchObject({ spilledBytes: 20, spilledBytesTotal: 50 });
  });
});

describe("above 80 % of the limit", () => {
  test("blocks of one call at a time begin", async () => {
    const budget = budgetOf();
    const begun: string[] = [];
    const begin = async (name: string) => {
      await budget.admitBlock(name);
      begun.push(name);
    };
    budget.reserve(need(10));
    await Promise.all([begin("a"), begin("b")]);
    processTakes(801);
    await vi.advanceTimersByTimeAsync(210);
    expect(budget.memory.isPaused).toBe(true);
    budget.endBlock("b");
    const waiting = ["a", "b", "b", "a"].map(begin);
    await vi.advanceTimersByTimeAsync(1000);
    expect(begun).toEqual(["a", "b", "a", "a"]);
    for (let i = 0; i < 3; i++) budget.endBlock("a");
    await Promise.all(waiting);
    expect(begun.slice(4)).toEqual(["b", "b"]);
    const other = begin("c");
    await vi.advanceTimersByTimeAsync(1000);
    expect(begun).toHaveLength(6);
    processTakes(100);
    await vi.advanceTimersByTimeAsync(210);
    await other;
    expect(budget.memory.isPaused).toBe(false);
  });

  test("a block that waits begins as soon as another call sees that there is room", async () => {
    const budget = budgetOf();
    processTakes(900);
    budget.reserve(need(10));
    await budget.admitBlock("a");
    const waiting = budget.admitBlock("b");
    processTakes(100);
    budget.reserve(need(10));
    await waiting;
  });

  test("a block that waits ends when it is aborted", async () => {
    const budget = budgetOf();
    processTakes(900);
    budget.reserve(need(10));
    await budget.admitBlock("a");
    const controller = new AbortController();
    const waiting = budget.admitBlock("b", controller.signal);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    budget.endBlock("a");
    await budget.admitBlock("c");
  });

  test("all go on if the share is switched off", async () => {
    const budget = budgetOf({ pause: 0 });
    processTakes(900);
    budget.reserve(need(10));
    await Promise.all(["a", "b"].map((name) => budget.admitBlock(name)));
    expect(budget.memory.isPaused).toBe(false);
  });
});
