import type { Value } from "../../operator/lowering.ts";
import type { Series, WindowState } from "../../operator/window_code.ts";
import { NodeVectors } from "../memory/state_layout.ts";
import { Code } from "./code.ts";
import { type KernelContext, LaneKernel, type PlacedState } from "./lane_kernel.ts";

/**
 * Emits the function that makes the window state of a node from rows of its columns, by the steps of its kernel: as if
 * history began with the first row of the call. The tasks of the node are emitted as in the kernel, but of their code
 * only the steps of the states are kept. Series have the values that are in their columns.
 */
export class StateKernel extends LaneKernel {
  readonly #kernel: LaneKernel;
  /** The bytes of the code that are kept: from, to. */
  readonly #kept: (readonly [number, number])[] = [];
  #isKept = false;

  constructor(main: Code, context: KernelContext, kernel: LaneKernel) {
    const emptyRow = (initial: number) => context.layout.emptyRow(initial).byteOffset;
    super(main, context, new NodeVectors(kernel.nodeVectors.windows), emptyRow);
    this.#kernel = kernel;
  }

  override series(_now: Value, column: number, range: Series["range"]): Series {
    const now = this.once(`now ${column}`, () => this.#keep(() => this.load(column)));
    return { now, column, range };
  }

  override get rowNumber(): Value {
    return this.#keep(() => super.rowNumber);
  }

  override state<Of, Layout extends object, Now>(state: WindowState<Of, Layout, Now>, of: Of): Now {
    return this.#keep(() => super.state(state, of));
  }

  /** The state is that of the kernel. */
  protected override place(key: string): PlacedState {
    return this.#kernel.placed.get(key)!;
  }

  protected override get lanesCode(): Code {
    const kept = new Code(this.code.locals);
    const bytes = this.code.bytes.view();
    for (const [from, to] of this.#kept) kept.bytes.append(bytes.subarray(from, to));
    return kept;
  }

  #keep<T>(emit: () => T): T {
    if (this.#isKept) return emit();
    const from = this.code.bytes.length;
    this.#isKept = true;
    const result = emit();
    this.#isKept = false;
    this.#kept.push([from, this.code.bytes.length]);
    return result;
  }
}
