/** The one place that writes to stdout and stderr: control characters never reach a terminal. */
import { EXIT_CODES } from "../../errors.ts";
import { visibleLines } from "../../text/visible.ts";

let printCount = 0;

/** Prints a line to stdout. */
export function print(text: string): void {
  printCount++;
  write(process.stdout, `${text}\n`);
}

/** How often `print` was called: with `--json` once. */
export const printsSoFar = (): number => printCount;

/** Prints a line to stderr. */
export function printNote(text: string): void {
  write(process.stderr, `${text}\n`);
}

/** The characters of a line of stdout: of the terminal, else what COLUMNS says, else 80. */
export function lineWidth(): number {
  const widths = [process.stdout.columns, Number(process.env["COLUMNS"])];
  return widths.find((width) => Number.isInteger(width) && width > 0) ?? 80;
}

/** The characters of a line of the terminal; infinite for a pipe and a file, which have no width. */
export function terminalWidth(): number {
  return process.stdout.columns || Number.POSITIVE_INFINITY;
}

/** Writes a text of several lines, control characters escaped. */
export function write(stream: NodeJS.WriteStream, text: string): void {
  stream.write(visibleLines(text));
}

/**
 * Ignores a closed pipe (`explain ... | head -1`): the work goes on and determines the exit code. Other failures to print,
 * such as a full disk, set the exit code.
 */
export function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    let hasFailed = false;
    stream.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      if (code === "EPIPE" || hasFailed) return;
      hasFailed = true;
      process.exitCode = EXIT_CODES.resources;
      if (stream === process.stdout)
        printNote(`E442 stdout cannot be written (${message})\n  make room where it is kept`);
    });
  }
}
