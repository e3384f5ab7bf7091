import { Heap } from "heap-js";
import { InternalError } from "../../src/errors.ts";
import type { Instruction, RunInstruction, ScheduledNode } from "../../src/schedule/events.ts";
import { ExecutorModel } from "./executor_model.ts";
import { type MachineCosts, machineCosts } from "./machine.ts";
import { PartCosts } from "./part_costs.ts";
import { SchedulerModel } from "./scheduler_model.ts";
import type { SimulatedNode, SimulatedPart, Simulation, SimulationOptions } from "./simulation.ts";

export const OVERLAP_DEFAULT = 3;

/** Something that happens at a time; of one time parts end first and the scheduler looks last, at all of them. */
interface Happening {
  readonly time: number;
  readonly rank: number;
  readonly sequence: number;
  readonly happen: () => void;
}

const RANK = { partEnds: 0, arrives: 1, schedulerLooks: 2 } as const;

/** Runs a graph block by block on simulated executors, with the engine's own scheduler. */
export function simulate(nodes: readonly SimulatedNode[], options: SimulationOptions): Simulation {
  return new World(nodes, options).run();
}

/** The costs that a simulation with these options meets. */
export function partCosts(nodes: readonly SimulatedNode[], options: SimulationOptions): PartCosts {
  const { blocks = 1, noise = 0, seed = 1 } = options;
  return new PartCosts(nodes, blocks, noise, seed, machineOf(options).slower);
}

function machineOf({ executors, machine }: SimulationOptions): MachineCosts {
  return { ...machineCosts(executors), ...machine };
}

class World {
  readonly #estimates: readonly ScheduledNode[];
  readonly #blocks: number;
  readonly #overlap: number;
  readonly #areRows: boolean;
  readonly #machine: MachineCosts;
  readonly #costs: PartCosts;
  readonly #scheduler: SchedulerModel;
  readonly #executors: readonly ExecutorModel[];
  readonly #parts: SimulatedPart[] = [];
  readonly #happenings = new Heap<Happening>(
    (a, b) => a.time - b.time || a.rank - b.rank || a.sequence - b.sequence,
  );
  /** How many parts of a node have ended, by `block:node`. */
  readonly #endedParts = new Map<string, number>();
  #sequence = 0;
  #now = 0;
  #endedAt = 0;
  #submittedCount = 0;
  #asked = 0;
  #taken = 0;
  #queueMax = 0;

  constructor(nodes: readonly SimulatedNode[], options: SimulationOptions) {
    const { executors, blocks = 1, overlap = OVERLAP_DEFAULT, areRows = false, scheduler = {} } = options;
    this.#estimates = options.estimates ?? nodes;
    this.#blocks = blocks;
    this.#overlap = overlap;
    this.#areRows = areRows;
    this.#machine = machineOf(options);
    this.#costs = partCosts(nodes, options);
    this.#scheduler = new SchedulerModel(scheduler, this.#machine);
    this.#executors = Array.from({ length: executors }, (_, id) => new ExecutorModel(id));
  }

  run(): Simulation {
    this.#scheduler.prepare([
      ...this.#executors.map(({ id }) => ({ kind: "joined" as const, executor: id })),
      { kind: "opened", plan: 0, nodes: this.#estimates },
    ]);
    for (let block = 0; block < Math.min(this.#overlap, this.#blocks); block++) this.#submit(0);
    this.#lookAt(0);
    for (let next = this.#happenings.pop(); next; next = this.#happenings.pop()) {
      this.#now = next.time;
      next.happen();
    }
    if (this.#parts.length !== this.#costs.partCount)
      throw new InternalError("the simulation came to a halt");
    return {
      parts: this.#parts,
      makespanNs: this.#endedAt,
      schedulerNs: this.#scheduler.busyNs,
      steals: { asked: this.#asked, taken: this.#taken },
      queueMax: this.#queueMax,
    };
  }

  #at(time: number, rank: number, happen: () => void): void {
    this.#happenings.push({ time, rank, sequence: this.#sequence++, happen });
  }

  #submit(visible: number): void {
    const block = this.#submittedCount++;
    const call = this.#areRows ? block : 0;
    this.#scheduler.post({ kind: "submitted", plan: 0, block, call, isNeeded: null }, visible);
  }

  /** The scheduler learns that there is news. */
  #wakeScheduler(): void {
    const { busyUntil } = this.#scheduler;
    // Whatever is visible by then it sees when it has done what it does.
    if (busyUntil > this.#now) return;
    // Of the time that waking it takes, the time until the news is visible has passed.
    this.#lookAt(this.#now + (this.#wakeNs(busyUntil) - this.#machine.busyNs));
  }

  /** Until a thread sees what it is sent now, if it has had nothing to do for so long. */
  #wakeNs(idleSince: number): number {
    const { wakeNs, busyNs, spinNs } = this.#machine;
    return this.#now - idleSince < spinNs ? busyNs : Math.max(wakeNs, busyNs);
  }

  #lookAt(time: number): void {
    const scheduler = this.#scheduler;
    if (scheduler.looksAt <= time) return;
    scheduler.looksAt = time;
    this.#at(time, RANK.schedulerLooks, () => {
      if (scheduler.looksAt !== time) return;
      scheduler.looksAt = Number.POSITIVE_INFINITY;
      const timed = scheduler.look(time);
      if (!timed) return;
      for (const one of timed) this.#at(one.time, RANK.arrives, () => this.#carryOut(one.instruction));
      this.#at(scheduler.busyUntil, RANK.arrives, () => this.#lookAt(this.#now));
    });
  }

  #carryOut(instruction: Instruction): void {
    if (instruction.kind === "run") {
      const executor = this.#executors[instruction.executor]!;
      const queued = this.#arrival(executor);
      executor.queue.push({ run: instruction, queued });
      this.#queueMax = Math.max(this.#queueMax, executor.queue.length);
      this.#at(queued, RANK.arrives, () => this.#startNext(executor));
    } else if (instruction.kind === "steal") {
      const { executor, ticket } = instruction;
      const isTaken = this.#executors[executor]!.giveUp(ticket);
      this.#asked++;
      if (isTaken) this.#taken++;
      this.#scheduler.post({ kind: "stolen", executor, ticket, isTaken }, this.#now);
    } else if (instruction.kind !== "release") {
      this.#endedAt = this.#now;
      if (this.#submittedCount === this.#blocks) return;
      const visible = this.#now + this.#machine.mainNs;
      this.#submit(visible);
      this.#at(visible, RANK.arrives, () => this.#wakeScheduler());
    }
  }

  /** When the executor sees what it is sent now. */
  #arrival(executor: ExecutorModel): number {
    const seen = this.#now + this.#machine.busyNs;
    if (executor.running) return seen;
    if (executor.wakesAt <= this.#now) executor.wakesAt = this.#now + this.#wakeNs(executor.idleSince);
    return Math.max(seen, executor.wakesAt);
  }

  #startNext(executor: ExecutorModel): void {
    if (executor.running) return;
    const next = executor.takeFirst(this.#now, (run) => this.#isOpen(run));
    this.#announce(executor, next !== null);
    if (!next) return;
    executor.running = next;
    const { block, node, part } = next.run;
    const [start, end] = [this.#now, this.#now + this.#costs.partNs(block, node, part)];
    this.#parts.push({ block, node, part, executor: executor.id, queued: next.queued, start, end });
    this.#at(end, RANK.partEnds, () => this.#endPart(executor, end - start));
  }

  #endPart(executor: ExecutorModel, ns: number): void {
    const { ticket, block, node } = executor.running!.run;
    executor.running = null;
    executor.idleSince = this.#now;
    const visible = this.#now + this.#machine.busyNs;
    this.#scheduler.post({ kind: "done", executor: executor.id, ticket, ns }, visible);
    executor.noteDone();
    this.#notePartEnded(block, node);
    this.#startNext(executor);
  }

  #announce(executor: ExecutorModel, hasNext: boolean): void {
    const hasIdle = !hasNext || this.#executors.some((other) => other !== executor && !other.running);
    if (!executor.announce(this.#now, hasIdle)) return;
    this.#at(this.#now + this.#machine.busyNs, RANK.arrives, () => this.#wakeScheduler());
  }

  /** True if what a part reads that was handed out ahead is done. */
  #isOpen({ block, node }: RunInstruction): boolean {
    return this.#estimates[node]!.inputs.every((input) => {
      return this.#endedParts.get(`${block}:${input}`) === this.#estimates[input]!.partCount;
    });
  }

  /** Executors that wait for the node see that its last part has ended: those that sleep are woken. */
  #notePartEnded(block: number, node: number): void {
    const key = `${block}:${node}`;
    const count = 1 + (this.#endedParts.get(key) ?? 0);
    this.#endedParts.set(key, count);
    if (count < this.#estimates[node]!.partCount) return;
    for (const other of this.#executors) {
      if (other.running || other.queue.length === 0) continue;
      this.#at(this.#now + this.#wakeNs(other.idleSince), RANK.arrives, () => this.#startNext(other));
    }
  }
}
