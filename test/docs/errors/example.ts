import { readFileSync } from "node:fs";
import { join } from "node:path";

/** An example of the page of errors as what a test can run. */
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

/** The examples of a section. Files stand before them, in their block or in one before; blank lines divide examples. */
export function examplesOf(markdown: string): Example[] {
  let before: Example["files"] = {};
  return blocksOf(markdown).flatMap(({ isProgram, lines }) => {
    const start = lines.findIndex((line) => isProgram || line.startsWith("$ "));
    const files = { ...before, ...filesOf(start < 0 ? lines : lines.slice(0, start)) };
    before = start < 0 ? files : {};
    if (start < 0) return [];
    const each = lines.slice(start).join("\n").split("\n\n");
    return each.map((text) => (isProgram ? programOf : commandsOf)(text.split("\n"), files));
  });
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
