import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { cpus, hostname } from "node:os";
import { dirname, join } from "node:path";
import { ResourceError } from "../errors.ts";
import { type CostModel, checkCostModel, DEFAULT_COSTS } from "../plan/cost_model.ts";

/** A cost model as it lies in a file, with how it was measured. */
export interface Calibration extends CostModel {
  readonly machine: string;
  readonly node: string;
  /** Day and time in ISO 8601. */
  readonly measuredAt: string;
  readonly lanes: number;
}

/** `calibrated`: those that `factorloom bench calibrate` has stored for this machine, else the built-in ones. */
export type CostChoice = "calibrated" | "default" | CostModel;

/** The costs that plans are cut and weighed by, and where they come from. */
export interface ChosenCosts {
  readonly model: CostModel;
  readonly origin: "calibrated" | "default" | "given";
  /** Why a stored calibration was wanted and not taken; null where there is nothing to say. */
  readonly reason: string | null;
}

/** What a calibration holds for: host and processor. */
export function machineName(): string {
  return `${hostname()}, ${cpus()[0]?.model.trim() ?? "unknown processor"}`;
}

/**
 * Where the calibration is stored: `costs.json` in the user's cache folder.
 *
 * @throws Error if the system knows no home of the user.
 */
export async function calibrationFile(): Promise<string> {
  // The package asks for the home when it is loaded, which fails for users without one: callers expect that.
  const { default: envPaths } = await import("env-paths");
  return join(envPaths("factorloom", { suffix: "" }).cache, "costs.json");
}

/**
 * The costs for an engine. A stored calibration that is missing, damaged or of another machine is left aside: costs
 * change no result, so they stop no evaluation.
 *
 * @throws UsageError E520 for a given model that is none.
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
 * Stores a calibration: in the user's cache folder, where engines look for it, or in a file of the caller's.
 *
 * @returns The file.
 * @throws ResourceError E405 if it cannot be written; what was there before is whole.
 */
export async function storeCalibration(calibration: Calibration, file?: string): Promise<string> {
  let target = file ?? "the user's cache folder";
  try {
    target = file ?? (await calibrationFile());
    await mkdir(dirname(target), { recursive: true });
    const partial = `${target}.${process.pid}.partial`;
    try {
      await writeFile(partial, `${JSON.stringify(calibration, null, 1)}\n`);
      await rename(partial, target);
    } finally {
      await rm(partial, { force: true });
    }
    return target;
  } catch (cause) {
    const message = `the costs cannot be stored in ${target}: ${(cause as Error).message}`;
    throw new ResourceError("E405", message, "give a file that can be written with --out", { cause });
  }
}
