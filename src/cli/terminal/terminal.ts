/** The one place that writes to stdout and stderr: what reaches a terminal is text and nothing else. */
import { EXIT_CODES } from "../../errors.ts";
import { visibleLines } from "../../text/visible.ts";

/** Prints a text, with a line end behind it, to stdout. */
export function print(text: string): void {
  write(process.stdout, `${text}\n`);
}

/** Prints a text, with a line end behind it, to stderr. */
export function printNote(text: string): void {
  write(process.stderr, `${text}\n`);
}

/** Writes a text of several lines as it is but for what a terminal would take for commands. */
export function write(stream: NodeJS.WriteStream, text: string): void {
  stream.write(visibleLines(text));
}

/**
 * A reader that has gone (`explain ... | head -1`) ends no work: what is printed is lost, the rest is done, and the exit
 * code is that of the work. Where printing fails for another reason, a full disk, the exit code says so.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      if (code === "EPIPE") return;
      process.exitCode = EXIT_CODES.resources;
      if (stream === process.stdout)
        printNote(`E445 stdout cannot be written (${message})\n  make room where it is kept`);
    });
  }
}
