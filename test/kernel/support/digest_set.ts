import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { syntheticPanel } from "../../../src/bench/synthetic_panel.ts";
import { compile, finalDag } from "../../../src/compile.ts";
import { runDag } from "../run_plan.ts";

/** Prints a digest of all values of a published set over a made-up panel. Usage: digest_set.ts SET */
const set = process.argv[2] as string;
const text = readFileSync(new URL(`../../../examples/${set}.factors`, import.meta.url), "utf8");
const panel = syntheticPanel({ lanes: 17, rows: 40, nullShare: 0.05 });
const hash = createHash("sha256");
for (const column of runDag(finalDag(compile(text, { dialect: set })), panel)) hash.update(column);
process.stdout.write(hash.digest("hex"));
