import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { InternalError, ResourceError, UsageError } from "../../errors.ts";
import type { BudgetCell, CellShape } from "./cell.ts";

/** What the process of a cell tells. */
export type CellMessage =
  | { readonly kind: "progress"; readonly share: number }
  | { readonly kind: "measured"; readonly cell: BudgetCell }
  | {
      readonly kind: "failed";
      /** Of the error's class. */
      readonly name: string;
      readonly code: string;
      readonly problem: string;
      readonly remedy: string;
    };

/**
 * Measures a cell in a process of its own: its resident size and the time until it is ready are those of a service that
 * runs nothing else, and no cell finds what an earlier one has compiled.
 *
 * @throws as `measureCell`; ResourceError E449 if the process ends without a result.
 */
export function measureApart(shape: CellShape, onShare: (share: number) => void): Promise<BudgetCell> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const program = fileURLToPath(new URL(`cell_process.${extension}`, import.meta.url));
  const child = fork(program, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  return new Promise((resolve, reject) => {
    child.on("message", (message: CellMessage) => {
      if (message.kind === "progress") onShare(message.share);
      else if (message.kind === "measured") resolve(message.cell);
      else reject(failureOf(message));
    });
    child.once("error", (cause) => reject(ended(shape, String(cause))));
    child.once("exit", (code, signal) => {
      const end = () => reject(ended(shape, signal ?? `exit code ${code}`));
      // Its last message may be read after its end.
      if (child.connected) child.once("disconnect", end);
      else end();
    });
    child.send(shape);
  });
}

function failureOf({ name, code, problem, remedy }: CellMessage & { kind: "failed" }): Error {
  if (name === InternalError.name) return new InternalError(problem);
  const Failure = name === ResourceError.name ? ResourceError : UsageError;
  return new Failure(code, problem, remedy);
}

function ended({ formulas, lanes }: CellShape, how: string): ResourceError {
  return new ResourceError(
    "E449",
    `the process that measured ${formulas} over ${lanes} lanes ended: ${how}`,
    "it may have run out of memory: give fewer --lanes or fewer --formulas",
  );
}
