import { ERROR_CATALOGUE } from "../src/error_catalogue/catalogue.ts";
import {
  type ErrorClass,
  type ErrorEntry,
  EXAMPLE_FILES,
  EXAMPLE_PRELUDE,
  exampleText,
} from "../src/error_catalogue/entry.ts";

/** What is thrown for a class, and the exit code of the command line. */
const CLASSES: Readonly<Record<ErrorClass, string>> = {
  formula: "`FormulaError`, exit code 1",
  data: "`DataError`, exit code 1",
  usage: "`UsageError`, exit code 1",
  resource: "`ResourceError`, exit code 2",
  internal: "`InternalError`, exit code 3",
  suspicion: "a finding of `check --strict` or `--deny`, exit code 1",
};

const SECTIONS: Readonly<Record<string, string>> = {
  E1: "E1xx: the text of formulas",
  E2: "E2xx: names, types and settings of formulas",
  E3: "E3xx: data",
  E4: "E4xx: memory, threads, disks and databases",
  E5: "E5xx: command lines, options and arguments",
  E6: "E6xx: clusters",
  E9: "E9xx: bugs",
  S6: "S6xx: findings of check --strict",
};

/** The catalogue of errors as a page. */
export function errorsPage(): string {
  const sections = Object.entries(SECTIONS).map(([prefix, title]) => {
    const entries = ERROR_CATALOGUE.filter(({ code }) => code.startsWith(prefix));
    return `## ${title}\n\n${entries.map(entrySection).join("\n\n")}`;
  });
  return `# Errors

Made from \`src/error_catalogue\` by \`npm run docs\`; a test keeps it current. \`factorloom help E362\` prints an entry. Each code
means one thing and keeps its meaning from version to version; the sentence behind it names what it is about.

Examples that can be run without a cluster or a broken machine are run by the tests. They have these files beside their own:

${block(
  Object.entries(EXAMPLE_FILES).flatMap(([name, text]) => [
    `${name}:`,
    ...text
      .trimEnd()
      .split("\n")
      .map((line) => `  ${line}`),
  ]),
)}

Programs begin with

${block(EXAMPLE_PRELUDE)}

${sections.join("\n\n")}
`;
}

function entrySection({ code, class: kind, title, happened, toDo, example }: ErrorEntry): string {
  const shown =
    "situation" in example
      ? `For example: ${example.situation} (not run: ${example.notRun}).`
      : block(exampleText(example));
  return `### ${code}\n\n**${title}** (${CLASSES[kind]}). ${happened}\n\n${toDo}\n\n${shown}`;
}

function block(lines: readonly string[]): string {
  return `\`\`\`\n${lines.join("\n")}\n\`\`\``;
}
