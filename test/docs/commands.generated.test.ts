import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { fileFolder } from "../support/file_folder.ts";
import { cases } from "../support/trials.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Pages whose commands a reader runs from the first to the last. Long runs try those that take ten seconds too. */
const PAGES = cases(["why.md"], ["why.md", "diff.md", "nulls.md", "report.md", "tutorial.md", "run.md"]);

const folder = fileFolder();

/** A command of the tutorial and the lines that it prints. */
interface Command {
  readonly command: string;
  readonly printed: readonly string[];
}

/** What a reader does, in order: save a file, or run commands. */
type Step = { readonly path: string; readonly content: string } | { readonly commands: readonly Command[] };

function stepsOf(page: string): Step[] {
  return [...page.matchAll(/```(console|text (\S+))\n([\s\S]*?)```/g)].map(([, , path, body]) =>
    path ? { path, content: body! } : { commands: commandsOf(body!) },
  );
}

function commandsOf(body: string): Command[] {
  return body
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command, ...printed] = part.trimEnd().split("\n");
      return { command: command!, printed };
    });
}

/** Runs a command as it stands, with the command line of this checkout for that of npx. */
function run(command: string): string[] {
  const own = `${process.execPath} ${join(ROOT, "dist/src/cli/main.js")}`;
  const { stdout, stderr } = spawnSync("sh", ["-c", command.replaceAll("npx factorloom", own)], {
    cwd: folder,
    encoding: "utf8",
  });
  // Mistakes go to stderr, and so do the log of jobs and signs of life, which the page does not show.
  const mistakes = stderr.split("\n").filter((line) => !line.startsWith("{") && !line.startsWith("... "));
  return [...stdout.split("\n"), ...mistakes].filter((line) => line.trim() !== "");
}

function patternOf(line: string): RegExp {
  const parts = line.split("...").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}

test.each(PAGES)("the commands of docs/%s print what it says", (page) => {
  const text = readFileSync(join(ROOT, "docs", page), "utf8");
  cpSync(join(ROOT, "examples"), join(folder, "examples"), { recursive: true });
  let commandCount = 0;
  for (const step of stepsOf(text)) {
    if ("path" in step) {
      mkdirSync(dirname(join(folder, step.path)), { recursive: true });
      writeFileSync(join(folder, step.path), step.content);
      continue;
    }
    for (const { command, printed } of step.commands) {
      const shown = printed.filter((line) => line !== "");
      const lines = run(command);
      expect(lines.length, `${command}\n${lines.join("\n")}`).toBe(shown.length);
      for (const [index, line] of shown.entries()) expect(lines[index], command).toMatch(patternOf(line));
      commandCount++;
    }
  }
  expect(commandCount).toBe(text.match(/^\$ /gm)!.length);
});
