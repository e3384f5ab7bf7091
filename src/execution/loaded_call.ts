import { InternalError } from "../errors.ts";
import type { Columns, Values } from "../kernel/columns.ts";
import type { Registry } from "../operator/registry.ts";
import { unpackOperator } from "../operator/transfer.ts";
import type { GroupColumn } from "../panel.ts";
import type { Operand, PlanNode } from "../plan/plan.ts";
import { slotColumn } from "./call_memory.ts";
import { unpackNodes } from "./packed_nodes.ts";
import type { LoadMessage } from "./protocol.ts";

/** A call that an executor has loaded: where its nodes find and leave their columns. */
export class LoadedCall implements Columns {
  readonly rowCount: number;
  readonly laneCount: number;
  /** The operators that the call's plan may use. */
  readonly registry: Registry;
  readonly #load: LoadMessage;
  readonly #nodes: readonly PlanNode[];
  /** Views of the slots; made once, because slots are reused by many nodes. */
  readonly #slots: Float64Array[] = [];

  constructor(load: LoadMessage, builtIn: Registry) {
    this.registry = builtIn.with(load.operators.map(unpackOperator));
    this.rowCount = load.rowCount;
    this.laneCount = load.laneCount;
    this.#load = load;
    this.#nodes = unpackNodes(load.nodes);
  }

  node(id: number): PlanNode {
    return found(this.#nodes[id], "node", String(id));
  }

  read(operand: Operand): Values {
    switch (operand.kind) {
      case "node":
        return this.result(operand.node);
      case "field":
        return found(this.#load.fields.get(operand.name), "field", operand.name);
      case "number":
        return operand.value;
      case "param":
        return found(this.#load.params[operand.name], "param", operand.name);
    }
  }

  group(name: string): GroupColumn {
    return found(this.#load.groups.get(name), "group", name);
  }

  result(node: number): Float64Array {
    const slot = this.#load.slotOfNode[node]!;
    this.#slots[slot] ??= slotColumn(this.#load.arena, slot, this.rowCount * this.laneCount);
    return this.#slots[slot];
  }
}

function found<T>(value: T | undefined, what: string, name: string): T {
  if (value === undefined) throw new InternalError(`the call came without ${what} ${name}`);
  return value;
}
