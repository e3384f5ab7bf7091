import { describe, expect, test } from "vitest";
import { CallNumbers, compareCalls } from "../../src/schedule/call_order.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";
import { Seeded } from "../support/seeded.ts";

/** Rows under way of a session at most. */
const OVERLAP = 3;

/** Sessions that begin rows, and end them in order. */
class Sessions {
  readonly #numbers: CallNumbers;
  readonly #underWay: { readonly session: string; readonly row: number; readonly call: number }[] = [];
  readonly #counts = new Map<string, number>();

  constructor(first = 0) {
    this.#numbers = new CallNumbers(first);
  }

  begin(session: string): void {
    const row = (this.#counts.get(session) ?? 0) + 1;
    this.#counts.set(session, row);
    this.#underWay.push({ session, row, call: this.#numbers.begin(session) });
    this.#underWay.sort(compareCalls);
  }

  /** Ends the row that goes first. */
  end(): string {
    const { session } = this.#underWay.shift()!;
    this.#numbers.end(session);
    return session;
  }

  hasRoom(session: string): boolean {
    return this.#underWay.filter((row) => row.session === session).length < OVERLAP;
  }

  /** Rows under way, in the order in which they go. */
  get order(): string {
    return this.#underWay.map(({ session, row }) => `${session}${row}`).join(" ");
  }
}

describe("rows of sessions", () => {
  test("that come beside a burst go behind its first row", () => {
    const sessions = new Sessions();
    for (let row = 0; row < OVERLAP; row++) sessions.begin("a");
    sessions.begin("b");
    expect(sessions.order).toBe("a1 b1 a2 a3");
    sessions.end();
    sessions.begin("a");
    expect(sessions.order).toBe("b1 a2 a3 a4");
    sessions.end();
    sessions.begin("b");
    expect(sessions.order).toBe("a2 b2 a3 a4");
  });

  test("alternate where several have bursts, by who came first", () => {
    const sessions = new Sessions();
    for (const session of ["b", "a", "c"]) for (let row = 0; row < OVERLAP; row++) sessions.begin(session);
    expect(sessions.order).toBe("b1 a1 c1 b2 a2 c2 b3 a3 c3");
  });

  test("wait for at most one row of each other session, in histories of bursts and single rows", () => {
    const random = new Seeded();
    // Just before numbers wrap around, and before they become negative.
    for (const first of [0, 2 ** 31 - 500, -500]) {
      const sessions = new Sessions(first);
      const names = ["a", "b", "c", "d"];
      const waits = new Map<string, string[]>();
      for (let step = 0; step < 3000; step++) {
        const name = names[random.below(names.length)]!;
        if (sessions.hasRoom(name) && random.below(3) > 0) {
          const isAlone = !sessions.order.includes(name);
          sessions.begin(name);
          if (isAlone) waits.set(name, []);
        } else if (sessions.order !== "") {
          const ended = sessions.end();
          for (const [waiting, before] of waits) if (waiting !== ended) before.push(ended);
          const before = waits.get(ended) ?? [];
          waits.delete(ended);
          expect(new Set(before).size, `${before}, seed ${random.seed}`).toBe(before.length);
        }
      }
    }
  });

  test("go before other calls that come later, and behind those that came before", () => {
    const numbers = new CallNumbers();
    const call = (number: number) => ({ call: number });
    const before = numbers.next();
    const rows = [numbers.begin("a"), numbers.begin("a")];
    const after = numbers.next();
    expect([after, ...rows, before].map(call).sort(compareCalls)).toEqual(
      [before, rows[0]!, after, rows[1]!].map(call),
    );
  });
});

test("a row of a session that waits gets the executors before a burst goes on", () => {
  // Two plans of four independent nodes each, and one executor that gets one part at a time.
  const scheduler = new Scheduler({ queueNs: 0, queuePartsMin: 1 });
  const numbers = new CallNumbers();
  const started: string[] = [];
  let ticket: number | null = null;
  const node = { inputs: [], partCount: 1, weight: 1, costNs: 1000, moveNs: 0, keepsRows: true };
  const handle = (...events: Parameters<Scheduler["handleAll"]>[0][number][]) =>
    scheduler.handleAll(events, (instruction) => {
      if (instruction.kind === "run") {
        started.push(`${"ab"[instruction.plan]}${instruction.block}`);
        ticket = instruction.ticket;
      } else if ("block" in instruction) numbers.end(instruction.plan);
    });
  const submit = (plan: number, block: number) =>
    handle({ kind: "submitted", plan, block, call: numbers.begin(plan), isNeeded: null });
  handle({ kind: "joined", executor: 0 });
  for (const plan of [0, 1]) handle({ kind: "opened", plan, nodes: [node, node, node, node] });
  for (const block of [1, 2, 3]) submit(0, block);
  submit(1, 1);
  while (started.length < 16) handle({ kind: "done", executor: 0, ticket: ticket!, ns: 1000 });
  const rows = started.filter((row, index) => row !== started[index - 1]);
  expect(rows).toEqual(["a1", "b1", "a2", "a3"]);
});
