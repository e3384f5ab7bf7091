import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { formatTable } from "../../src/cli/terminal/text_table.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { formPlan } from "../../src/plan/form.ts";
import { compileKernels } from "../kernel/at_once.ts";
import { here } from "./golden_file.ts";

/**
 * What the published sets become, and what the command line loads, as exact counts on record in counts.golden.txt: what
 * grows is seen in a diff, on any machine and without a clock. `npm run counts` renews the record.
 */
const GOLDEN = here("counts.golden.txt");
const SETS = ["alpha101", "alpha158", "alpha360", "gtja191"] as const;
const SHAPE = { laneCount: 1024, blockRows: 64, executorCount: 2 };
const MAIN = here("../../dist/src/cli/main.js");
const COMMANDS = [["--version"], ["check", here("../../examples/alpha101.factors")]];

// The code for processors that multiply and add at once, whatever this one is; counted, not compiled.
vi.mock("../../src/kernel/emit/fused_multiply.ts", () => ({ hasFusedMultiply: () => true }));
const counted = vi.hoisted(() => ({ kernelBytes: 0 }));
vi.mock("../../src/kernel/compile/compile_optimised.ts", () => ({
  cachedModule: (bytes: Uint8Array) => {
    counted.kernelBytes = bytes.length;
    return [];
  },
}));

function countsOf(set: string): readonly (string | number)[] {
  const dag = finalDag(compile(readFileSync(here(`../../examples/${set}.factors`), "utf8")));
  const plan = formPlan(dag, SHAPE);
  const { stateBytes } = compileKernels(plan, builtInRegistry, { ...SHAPE, reference: false });
  return [set, plan.tasks.length, plan.nodes.length, plan.columns.length, stateBytes, counted.kernelBytes];
}

/** The modules that a command of the built command line loads: those of its own, then those of packages. */
function loadedModules(args: readonly string[]): readonly (string | number)[] {
  const report = `
    import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) });
    process.on("exit", () => process.stderr.write("\\n" + JSON.stringify([...loaded])));`;
  const preload = `data:text/javascript,${encodeURIComponent(report)}`;
  const { stderr } = spawnSync(process.execPath, ["--import", preload, MAIN, ...args], { encoding: "utf8" });
  const files = (JSON.parse(stderr.split("\n").at(-1)!) as string[]).filter((url) => url.startsWith("file:"));
  const ofPackages = files.filter((url) => url.includes("/node_modules/")).length;
  return [args[0]!, files.length - ofPackages, ofPackages];
}

test("counts are those on record", () => {
  const text = [
    formatTable(
      ["set", "tasks", "nodes", "columns", "bytes of state", "bytes of kernels"],
      SETS.map(countsOf),
    ),
    formatTable(["command", "modules", "modules of packages"], COMMANDS.map(loadedModules)),
    "",
  ].join("\n\n");
  if (process.env["UPDATE_GOLDEN"]) writeFileSync(GOLDEN, text);
  expect(text, "if this is meant, run `npm run counts` and read the difference").toBe(
    readFileSync(GOLDEN, "utf8"),
  );
});
