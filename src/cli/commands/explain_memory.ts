import { builtInRegistry } from "../../../operators/index.ts";
import { finalDag, type Program } from "../../compile.ts";
import type { Dag } from "../../dag/dag.ts";
import {
  blockRowsToTry,
  draftOf,
  type EmittedShare,
  fitShares,
  type PlanSpec,
} from "../../evaluation/fit_plan.ts";
import { ARENA_BYTES_MAX } from "../../evaluation/memory/memory_budget.ts";
import { formatBytes } from "../../evaluation/memory/memory_need.ts";
import { threadsOfMachine } from "../../evaluation/threads_of_machine.ts";
import { liveDag } from "../../live/live_dag.ts";
import { SESSION_SHAPE } from "../../live/live_plan.ts";
import { DEFAULT_COSTS } from "../../plan/cost_model.ts";
import { counted } from "../../text/counted.ts";
import { formatTable } from "../terminal/text_table.ts";

/**
 * What columns and state of a program take over `laneCount` symbols, for a history and for a session; where that is more
 * than one memory holds, the factors of each memory.
 *
 * @throws ResourceError E401 for a factor that does not fit into one memory
 */
export async function memoryText(program: Program, laneCount: number, arenaBytesMax = ARENA_BYTES_MAX) {
  const dag = finalDag(program);
  const { disabledPasses, operators } = program;
  const live = liveDag(dag, { priorities: {}, disabledPasses, series: [] }).dag;
  const target = { threads: threadsOfMachine(), costs: DEFAULT_COSTS, arenaBytesMax };
  const registry = builtInRegistry.with(operators);
  const sharesOf = async (of: Pick<PlanSpec, "dag" | "finishedRows" | "keptBlocks">, rowCount: number) => {
    const spec = { ...of, laneCount, disabledPasses, registry };
    const draft = draftOf(spec, target, spec.dag);
    const [blockRows = 1] = blockRowsToTry(draft, { rowCount });
    return { blockRows, shares: await fitShares(spec, target, draft, blockRows) };
  };
  const history = await sharesOf({ dag }, Number.POSITIVE_INFINITY);
  const session = await sharesOf({ dag: live, ...SESSION_SHAPE }, 1);
  return [
    `memory over ${counted(laneCount, "symbol")}:`,
    ...sharesText(`a history, blocks of ${counted(history.blockRows, "row")}`, history.shares, dag),
    ...sharesText("a session", session.shares, live),
  ].join("\n");
}

function sharesText(what: string, shares: readonly EmittedShare[], { outputs }: Dag): string[] {
  const bytes = shares.reduce((sum, { kernels }) => sum + kernels.arenaBytes, 0);
  const total = `${what}: ${formatBytes(bytes)}`;
  if (shares.length === 1) return [total];
  const rows = shares.map(({ kernels, outputs: own, plan }, index) => [
    index + 1,
    formatBytes(kernels.arenaBytes),
    plan.tasks.length,
    own.map((output) => outputs[output]!.name).join(" "),
  ]);
  return [
    `${total} in ${shares.length} memories; what several of them need is computed in each`,
    formatTable(["memory", "bytes", "tasks", "factors"], rows),
  ];
}
