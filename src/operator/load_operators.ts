import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { UsageError } from "../errors.ts";
import { hasAll } from "../text/argument_kinds.ts";
import { noSuchFile } from "../text/no_such_file.ts";
import type { Operator } from "./definition.ts";
import { messageOf } from "./transfer.ts";

const REMEDY = "give a module that exports what defineOperator gives";

/**
 * The operators that modules export, alone or in lists, each once.
 *
 * @throws UsageError E508 for a missing file, E510 for one that cannot be imported or exports no operator.
 */
export async function loadOperators(paths: readonly string[]): Promise<Operator[]> {
  const operators = new Set<Operator>();
  for (const path of paths) {
    const exported = Object.values(await importModule(path))
      .flat()
      .filter(isOperator);
    if (exported.length === 0) throw new UsageError("E510", `${path} exports no operator`, REMEDY);
    for (const operator of exported) operators.add(operator);
  }
  return [...operators];
}

async function importModule(path: string): Promise<object> {
  if ((await stat(path).catch(() => null)) === null) throw noSuchFile(`${path}: no such file`, REMEDY);
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as object;
  } catch (error) {
    throw new UsageError("E510", `${path} cannot be imported: ${messageOf(error)}`, REMEDY, { cause: error });
  }
}

function isOperator(value: unknown): value is Operator {
  return hasAll(value, ["name", "axis", "parameters", "examples"]);
}
