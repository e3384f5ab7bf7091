import { visible } from "../../text/visible.ts";
import { namingStdin } from "./standard_input.ts";
import { printNote } from "./terminal.ts";

/** Prints warnings as errors are printed, a line each. Node itself would print names of files and columns unescaped. */
export function printWarnings(): void {
  if (process.listenerCount("warning") === 0) return; // node --no-warnings
  process.removeAllListeners("warning");
  process.on("warning", ({ message }) => printNote(`warning: ${visible(namingStdin(message))}`));
}
