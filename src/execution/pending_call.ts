import { InternalError, ResourceError } from "../errors.ts";
import type { PackedOperator } from "../operator/transfer.ts";
import type { GroupColumn } from "../panel.ts";
import type { Operand, Plan, PlanNode } from "../plan/plan.ts";
import type { CallEnd } from "../schedule/events.ts";
import { type CallMemory, slotColumn } from "./call_memory.ts";
import { packNodes } from "./packed_nodes.ts";
import type { LoadMessage, SubmitMessage } from "./protocol.ts";

/** One evaluation of a plan. */
export interface CallRequest {
  readonly plan: Plan;
  /** 1 for every node to be computed; the inputs of a wanted node are wanted. */
  readonly wanted: Uint8Array;
  /** Values of the numeric params: one for the call, or a column `[rows x lanes]` when they change over time. */
  readonly params: Readonly<Record<string, number | Float64Array<SharedArrayBuffer>>>;
  /** Operators of the plan beyond the built-in ones. */
  readonly operators?: readonly PackedOperator[];
  /** The panel's numeric columns `[rows x lanes]`; those that the wanted nodes read are needed. */
  readonly fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly groups: ReadonlyMap<string, GroupColumn>;
  /** Ends the call when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Told how many parts are done, at most every 50 ms, and once at the end. */
  readonly onProgress?: ((partsDone: number, partCount: number) => void) | undefined;
}

export interface CallResult {
  /**
   * The column `[rows x lanes]` of a wanted output node, NaN = null: a view into the call's arena, which lives as
   * long as any of its columns.
   *
   * @throws InternalError if the node is no wanted output.
   */
  column(node: number): Float64Array<SharedArrayBuffer>;
  /** Measured ns of each node of the plan, summed over its parts; 0 for nodes that were not wanted. */
  readonly nodeNs: Float64Array;
  /** Elapsed ns from submission to the end. */
  readonly wallNs: number;
}

/** The main thread's record of a call that has not ended. */
export class PendingCall {
  readonly id: number;
  readonly result: Promise<CallResult>;
  readonly #request: CallRequest;
  readonly #memory: CallMemory;
  readonly #settle: PromiseWithResolvers<CallResult>;
  readonly #startedAt = performance.now();
  #isSettled = false;
  #kernelError: { readonly node: number; readonly text: string } | null = null;

  constructor(id: number, request: CallRequest, memory: CallMemory) {
    this.id = id;
    this.#request = request;
    this.#memory = memory;
    this.#settle = Promise.withResolvers();
    this.result = this.#settle.promise;
  }

  loadMessage(): LoadMessage {
    const { plan, params, operators = [] } = this.#request;
    const { arena, slotOfNode } = this.#memory;
    const { fields, groups } = columnsRead(this.#request);
    const nodes = packNodes(plan);
    const { rowCount, laneCount } = plan;
    return {
      kind: "load",
      call: this.id,
      rowCount,
      laneCount,
      nodes,
      params,
      operators,
      fields,
      groups,
      arena,
      slotOfNode,
    };
  }

  submitMessage(): SubmitMessage {
    const { plan, wanted, onProgress } = this.#request;
    const { slotCount, slotOfNode, nodeNs } = this.#memory;
    const nodes = plan.nodes.map(({ inputs, partCount, weight, isOutput }) => ({
      inputs,
      partCount,
      weight,
      isOutput,
    }));
    const wantsProgress = onProgress !== undefined;
    return { kind: "submit", call: this.id, nodes, wanted, slotCount, slotOfNode, nodeNs, wantsProgress };
  }

  /** Keeps the text of the first kernel error; the scheduler says when the call has failed. */
  noteKernelError(node: number, text: string): void {
    this.#kernelError ??= { node, text };
  }

  /** Nobody is told of a call that was aborted and has parts running still. */
  reportProgress(partsDone: number, partCount: number): void {
    if (!this.#isSettled) this.#request.onProgress?.(partsDone, partCount);
  }

  reject(error: unknown): void {
    this.#isSettled = true;
    this.#settle.reject(error);
  }

  /** Settles the result as the scheduler said; a result that is settled stays as it is. */
  end(end: CallEnd): void {
    if (end.kind === "finished") this.#finish();
    else if (end.kind === "cancelled") this.reject(new InternalError("a call was cancelled by nobody"));
    else this.reject(this.#failure(end.node, end.reason));
  }

  #finish(): void {
    const { plan, wanted } = this.#request;
    const { arena, slotOfNode, nodeNs } = this.#memory;
    const partCount = plan.nodes.reduce((sum, node) => sum + (wanted[node.id] ? node.partCount : 0), 0);
    try {
      this.reportProgress(partCount, partCount);
    } catch (error) {
      this.reject(error);
    }
    this.#settle.resolve({
      column: (node) => {
        if (!wanted[node] || !plan.nodes[node]?.isOutput)
          throw new InternalError(`node ${node} is no output`);
        return slotColumn(arena, slotOfNode[node]!, plan.rowCount * plan.laneCount);
      },
      nodeNs,
      wallNs: (performance.now() - this.#startedAt) * 1e6,
    });
  }

  #failure(node: number, reason: "kernel" | "memory" | "executor"): Error {
    const { operator } = this.#request.plan.nodes[node]!.task;
    if (reason === "executor") {
      return new ResourceError(
        "E402",
        `the operator ${operator} ended its thread twice in a row (node ${node})`,
        "if it is your operator, look for process.exit or unbounded memory in its reference",
      );
    }
    if (reason === "memory")
      return new InternalError(`call ${this.id} was given too few slots at node ${node}`);
    const text = this.#kernelError?.text ?? "no details";
    return new InternalError(`the operator ${operator} failed in node ${node}: ${text}`);
  }
}

/** The fields and groups that the wanted nodes read. */
function columnsRead({ plan, wanted, fields, groups }: CallRequest): Pick<LoadMessage, "fields" | "groups"> {
  const fieldsRead = new Map<string, Float64Array<SharedArrayBuffer>>();
  const groupsRead = new Map<string, GroupColumn>();
  for (const { id, task } of plan.nodes) {
    if (!wanted[id]) continue;
    if (task.group !== null) groupsRead.set(task.group, groups.get(task.group)!);
    for (const operand of task.operands) {
      if (operand.kind === "field") fieldsRead.set(operand.name, fields.get(operand.name)!);
    }
  }
  return { fields: fieldsRead, groups: groupsRead };
}

/**
 * Checks what a call relies on, so that a mistake of an earlier room ends here and not as a hang or a wrong column.
 *
 * @throws InternalError naming the first thing that does not hold.
 */
export function checkRequest(request: CallRequest): void {
  const { plan, wanted } = request;
  const expect = (holds: boolean, what: string) => {
    if (!holds) throw new InternalError(`a call cannot run: ${what}`);
  };
  expect(wanted.length === plan.nodes.length, "one mark per node is needed");
  plan.nodes.forEach((node, id) => {
    expect(node.id === id && node.inputs.every((input) => input < id), `node ${id} is out of order`);
    expect(node.partCount >= 1, `node ${id} has no parts`);
    if (!wanted[id]) return;
    expect(
      node.inputs.every((input) => wanted[input] === 1),
      `an input of node ${id} is not wanted`,
    );
    for (const operand of node.task.operands) {
      expect(isThere(request, node, operand), `node ${id} reads a missing ${operand.kind}`);
    }
    const group = node.task.group === null ? null : request.groups.get(node.task.group);
    const groupCells = (group?.changesOverTime ? plan.rowCount : 1) * plan.laneCount;
    expect(group === null || group?.codes.length === groupCells, `node ${id} reads a group of another shape`);
  });
}

function isThere({ plan, fields, params }: CallRequest, node: PlanNode, operand: Operand): boolean {
  switch (operand.kind) {
    case "node":
      return node.inputs.includes(operand.node);
    case "field":
      return fields.get(operand.name)?.length === plan.rowCount * plan.laneCount;
    case "param":
      return params[operand.name] !== undefined;
    case "number":
      return true;
  }
}
