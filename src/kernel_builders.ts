/**
 * factorloom/kernel: what the code of an operator, `lower` and window states, is made of. It follows the inside of the
 * compiler: any release may change it.
 *
 * @packageDocumentation
 */
export type { Arithmetic } from "./elementary/arithmetic.ts";
export type { LoweredRow } from "./operator/definition.ts";
export type { CellBuilder, Mask, RowBuilder, StepBuilder, Value } from "./operator/lowering.ts";
export type {
  AnyWindowState,
  Ring,
  RowWalk,
  Series,
  StateBounds,
  StateLayout,
  StateRows,
  WindowBuilder,
  WindowState,
} from "./operator/window_code.ts";
export * as rolling from "./rolling/index.ts";
