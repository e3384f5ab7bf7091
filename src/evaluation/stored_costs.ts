import { mkdir, readFile } from "node:fs/promises";
import { cpus, hostname } from "node:os";
import { dirname, join } from "node:path";
import { ResourceError } from "../errors.ts";
import { replaceFile } from "../files/pending_file.ts";
import { type CostModel, checkCostModel, DEFAULT_COSTS } from "../plan/cost_model.ts";
import type { ArgumentKind } from "../text/argument_kinds.ts";

/** A cost model as stored in a file, with its measurement. */
export interface Calibration extends CostModel {
  readonly machine: string;
  readonly node: string;
  /** Date and time in ISO 8601. */
  readonly measuredAt: string;
  readonly lanes: number;
}

/** `calibrated`: the costs that `factorloom bench calibrate` has stored for this machine, else the built-in ones. */
export type CostChoice = "calibrated" | "default" | CostModel;

export const COSTS: ArgumentKind = {
  what: "a choice of costs",
  fits: (given) => given === "calibrated" || given === "default" || checkCostModel(given) !== null,
  remedy: 'give "calibrated", "default" or a cost model',
  takesNull: true,
};

/** The costs for splitting and weighing plans, with their source. */
export interface ChosenCosts {
  readonly model: CostModel;
  readonly origin: "calibrated" | "default" | "given";
  /** Why a stored calibration was not used; null if there is nothing to report. */
  readonly reason: string | null;
}

/** The machine of a calibration: host and processor. */
export function machineName(): string {
  return `${hostname()}, ${cpus()[0]?.model.trim() ?? "unknown processor"}`;
}

/**
 * The file of the calibration: `costs.json` in the user's cache folder.
 *
 * @throws Error if the system knows no home folder of the user.
 */
export async function calibrationFile(): Promise<string> {
  // Loading the package asks for the home folder, which fails for users without one: callers expect that here.
  const { default: envPaths } = await import("env-paths");
  return join(envPaths("factorloom", { suffix: "" }).cache, "costs.json");
}

/**
 * The costs for an engine. A stored calibration that is missing, damaged or of another machine is ignored: costs change
 * no result, so they stop no evaluation.
 *
 * @throws UsageError E528 for a malformed model.
 */
export async function chooseCosts(choice: CostChoice = "calibrated"): Promise<ChosenCosts> {
  if (choice === "default") return { model: DEFAULT_COSTS, origin: "default", reason: null };
  if (choice !== "calibrated") return { model: checkCostModel(choice), origin: "given", reason: null };
  try {
    const file = await calibrationFile();
    const model = checkCostModel(JSON.parse(await readFile(file, "utf8")));
    const here = machineName();
    if (model.machine === here) return { model, origin: "calibrated", reason: null };
    return unused(`${file} was measured on ${model.machine}, this is ${here}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return unused("this machine is not calibrated");
    return unused(`the stored calibration cannot be used: ${(error as Error).message.split("\n")[0]}`);
  }
}

const unused = (reason: string): ChosenCosts => ({ model: DEFAULT_COSTS, origin: "default", reason });

/**
 * Stores a calibration: in the user's cache folder, where engines find it, or in the given file.
 *
 * @returns The file.
 * @throws ResourceError E442 if it cannot be written; the previous file is intact then.
 */
export async function storeCalibration(calibration: Calibration, file?: string): Promise<string> {
  let target = file ?? "the user's cache folder";
  try {
    target = file ?? (await calibrationFile());
    await mkdir(dirname(target), { recursive: true });
    await replaceFile(target, `${JSON.stringify(calibration, null, 1)}\n`);
    return target;
  } catch (cause) {
    const message = `the costs cannot be stored in ${target}: ${(cause as Error).message}`;
    throw new ResourceError("E442", message, "give a file that can be written with --out", { cause });
  }
}
