import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A block of the page of errors, or several for one error, as what a test can run. */
export interface Example {
  readonly files: Readonly<Record<string, string>>;
  /** Command lines, of which the last one ends with the error. */
  readonly commands: readonly string[];
  /** Lines of a program, of which the last one throws. */
  readonly program: readonly string[];
  /** What is printed, or the message of what is thrown. */
  readonly shows: readonly string[];
}

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/errors.md"), "utf8");
const [FILES, PRELUDE] = blocksOf(PAGE) as [Block, Block];

/** Files of every example. */
export const EXAMPLE_FILES = filesOf(FILES.lines);
/** First lines of every example of a program. */
export const EXAMPLE_PRELUDE = PRELUDE.lines;

interface Block {
  readonly isProgram: boolean;
  readonly lines: readonly string[];
}

/** The examples of a section: each ends with a block that shows an error. */
export function examplesOf(markdown: string): Example[] {
  const examples: Example[] = [];
  let before: Record<string, string> = {};
  for (const { isProgram, lines } of blocksOf(markdown)) {
    const start = lines.findIndex((line) => isProgram || line.startsWith("$ "));
    const files: Record<string, string> = {
      ...before,
      ...filesOf(start < 0 ? lines : lines.slice(0, start)),
    };
    if (start < 0) before = files;
    else {
      examples.push(isProgram ? programOf(lines, files) : commandsOf(lines.slice(start), files));
      before = {};
    }
  }
  return examples;
}

function programOf(lines: readonly string[], files: Example["files"]): Example {
  const end = lines.findIndex((line) => line.startsWith("// "));
  const shows = lines.slice(end).map((line) => line.replace(/^\/\/ ?/, ""));
  return { files, commands: [], program: lines.slice(0, end), shows };
}

function commandsOf(lines: readonly string[], files: Example["files"]): Example {
  const end = lines.findLastIndex((line) => line.startsWith("$ ")) + 1;
  const commands = lines.slice(0, end).map((line) => line.replace(/^\$ /, ""));
  return { files, commands, program: [], shows: lines.slice(end) };
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)\n```$/gm)].map(([, language, text]) => ({
    isProgram: language === "ts",
    lines: text!.split("\n"),
  }));
}

/** `name:` with the lines of a file below it, each by two spaces to the right; a name that ends in / is a folder. */
function filesOf(lines: readonly string[]): Record<string, string> {
  const files: Record<string, string> = {};
  let name = "";
  for (const line of lines)
    if (/^\S.*:$/.test(line)) {
      name = line.slice(0, -1);
      files[name] = "";
    } else if (line.startsWith("  ")) files[name] += `${line.slice(2)}\n`;
  return files;
}
