import { beforeAll, describe, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { cases } from "../support/trials.ts";
import * as cells from "./checks_of_cells.ts";
import * as lanes from "./checks_of_lanes.ts";
import * as rows from "./checks_of_rows.ts";
import { prepareSubject, type Subject } from "./subject.ts";

/**
 * What every operator owes to the rest of the engine. Every operator of the registry is tested, so a new file in
 * `operators/` is covered without a line here; nothing below knows the name of an operator. Every run tries the code that is
 * compiled, and references where there is none; long runs try all references too.
 */
const all = builtInRegistry.operators.flatMap((operator) =>
  (["compiled", "by reference"] as const).map((how) => ({ name: operator.name, how, operator })),
);
const compiled = all.filter(({ how }) => how === "compiled");

describe.each(cases(compiled, all))("$name $how", ({ operator, how }) => {
  let subject: Subject;
  beforeAll(() => {
    subject = prepareSubject(operator, how === "by reference");
  });

  test("gives a value or null for every cell of panels of any shape", () => cells.checkShapes(subject));
  test("obeys the null rule of its kind", () => cells.checkNulls(subject));
  test("gives the same bits twice and leaves its inputs alone", () => cells.checkRepetition(subject));
  test("obeys its laws to the last bit", () => cells.checkLaws(subject));
  test("takes a number for a column of that number", () => cells.checkNumbers(subject));
  test("gives the same bits for any cut into blocks and parts", () => cells.checkCuts(subject));
  test("gives the same bits where parts are run again", () => cells.checkReruns(subject));
  test("does not look ahead", () => rows.checkLookAhead(subject));
  test("forgets what has left its window", () => rows.checkForgetting(subject));
  test("does not depend on other rows if it has no window", () => rows.checkRowOrder(subject));
  test("does not depend on the order of lanes", () => lanes.checkLaneOrder(subject));
  test("does not depend on other lanes if it is no cross-section", () => lanes.checkLonelyLanes(subject));
  test("sees in a row only the lanes with values", () => lanes.checkNullLanes(subject));
  test("does not mix groups", () => lanes.checkGroups(subject));
});
