import type { Panel } from "../../src/panel.ts";
import { groupCode, panels, pickCells, range, replaceCells } from "./awkward_panels.ts";
import { garbage, hashed } from "./awkward_series.ts";
import { expectCells } from "./same_cells.ts";
import { type Application, type ApplicationResult, evaluateEach, type Subject } from "./subject.ts";

const { history } = panels;

/** Lanes in another order give the results in that order. */
export function checkLaneOrder(subject: Subject): void {
  for (const { panel, columns } of subject.results) {
    const order = range(panel.laneCount).sort((a, b) => hashed(5, a) - hashed(5, b));
    for (const result of evaluateEach(subject, pickCells(panel, range(panel.rowCount), order))) {
      const column = columns[result.index]!;
      expectCells(result, (row, lane) => column[row * panel.laneCount + order[lane]!]!);
    }
  }
}

/** A lane alone, or among fewer others, gives what it gives among all. */
export function checkLonelyLanes(subject: Subject): void {
  if (!subject.isLaneWise) return;
  for (const chosen of [[0], [9], [12], range(7), range(8, 1), range(9)]) {
    for (const result of evaluateEach(subject, pickCells(history, range(history.rowCount), chosen))) {
      const among = subject.history[result.index]!;
      expectCells(result, (row, lane) => among[row * history.laneCount + chosen[lane]!]!);
    }
  }
}

/** Lanes without a value (or group) give null, and a row without them gives the same for the others. */
export function checkNullLanes(subject: Subject): void {
  const { axis } = subject.operator;
  if (axis !== "cross_section" && axis !== "group") return;
  for (const { panel, columns } of subject.results) {
    for (let row = 0; row < panel.rowCount; row++) checkRow(subject, panel, columns, row);
  }
}

function checkRow(subject: Subject, panel: Panel, straight: readonly Float64Array[], row: number): void {
  const known = new Map<string, { chosen: number[]; results: ApplicationResult[] }>();
  for (const application of subject.applications) {
    const key = `${application.fields} ${application.group}`;
    if (known.has(key)) continue;
    const chosen = valuedLanes(application, panel, row);
    known.set(key, { chosen, results: evaluateEach(subject, pickCells(panel, [row], chosen)) });
  }
  subject.applications.forEach(({ fields, group }, i) => {
    const { chosen, results } = known.get(`${fields} ${group}`)!;
    expectCells(results[i]!, (_, lane) => straight[i]![row * panel.laneCount + chosen[lane]!]!);
  });
}

function valuedLanes({ call, fields, group }: Application, panel: Panel, row: number): number[] {
  return range(panel.laneCount).filter((lane) => {
    const isNull = fields.some((field) =>
      Number.isNaN(panel.fields.get(field)![row * panel.laneCount + lane]!),
    );
    return !isNull && (call?.group === null || groupCode(panel, group, row, lane) >= 0);
  });
}

/** Other values in one group change nothing in the others. */
export function checkGroups(subject: Subject): void {
  if (subject.operator.axis !== "group") return;
  for (const disturbed of [0, 2]) {
    for (const group of ["g", "h"]) {
      const isDisturbed = (row: number, lane: number) => groupCode(history, group, row, lane) === disturbed;
      const panel = replaceCells(history, (row, lane, field) =>
        isDisturbed(row, lane) ? garbage(field.charCodeAt(0), row * 100 + lane) : undefined,
      );
      for (const result of evaluateEach(subject, panel)) {
        if (result.application.group !== group) continue;
        const straight = subject.history[result.index]!;
        expectCells(result, (row, lane) =>
          isDisturbed(row, lane) ? undefined : straight[row * history.laneCount + lane]!,
        );
      }
    }
  }
}
