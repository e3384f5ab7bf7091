import { FactorloomError, InternalError } from "../../errors.ts";
import { type CellShape, measureCell } from "./cell.ts";
import type { CellMessage } from "./measure_apart.ts";

/** A process that measures one cell and ends; `measureApart` starts it. */

const send = (message: CellMessage) =>
  new Promise<void>((resolve) => process.send!(message, undefined, undefined, () => resolve()));

// Nobody waits for the figures any more.
process.once("disconnect", () => process.exit());
process.once("message", async (shape: CellShape) => {
  await send(await outcomeOf(shape));
  process.disconnect!();
});

async function outcomeOf(shape: CellShape): Promise<CellMessage> {
  try {
    const cell = await measureCell(shape, (done, total) => {
      if (done % 16 === 0) process.send!({ kind: "progress", share: done / total } satisfies CellMessage);
    });
    return { kind: "measured", cell };
  } catch (error) {
    if (!(error instanceof FactorloomError))
      return { kind: "failed", name: InternalError.name, code: "E900", problem: String(error), remedy: "" };
    const { name, code, problem, remedy } = error;
    return { kind: "failed", name, code, problem, remedy };
  }
}
