import { expect, test, vi } from "vitest";
import { compile, defineOperator, Engine, type HangingPart } from "../../src/index.ts";
import { panelOf } from "../panels.ts";

/** x; takes `ms` of processor time where x is 9. */
const slow = (name: string, ms: number) =>
  defineOperator({
    name,
    axis: "elementwise",
    parameters: [{ name: "x", kind: "series" }],
    result: "series",
    unit: "other",
    nulls: "Null where x is null.",
    source: "made for a test",
    summary: "x; takes long for 9.",
    costNs: () => 1,
    examples: [{ formula: "x", inputs: { x: [1] }, output: [1] }],
    nullWhere: {},
    reference: new Function(
      "x",
      `if (x === 9) for (const end = performance.now() + ${ms}; performance.now() < end; ); return x;`,
    ) as (x: number) => number,
  });

const filled = (...values: number[]) => panelOf({ x: values.map((value) => [value]) });

test("a part that hangs is reported once, with its operator; others and short ones are not", async () => {
  const reports: HangingPart[] = [];
  await using engine = await Engine.start({
    threads: 2,
    hang: { limitMs: 400, onHang: (part) => reports.push(part) },
  });
  const program = compile("y = slow_at_9(x) + 1\nz = x * 2", {
    fields: ["x"],
    operators: [slow("slow_at_9", 2500)],
  });
  await engine.evaluate(program, filled(1, 2, 3));
  expect(reports).toEqual([]);
  const { table } = await engine.evaluate(program, filled(1, 9, 3));
  expect([...table.getChild("y")!]).toEqual([2, 10, 4]);
  expect(reports).toHaveLength(1);
  const [report] = reports;
  expect(report!.operators).toContain("slow_at_9");
  expect(report!.ms).toBeGreaterThan(400);
  expect(report!.estimatedMs).toBeLessThan(report!.ms / 50);
});

test("a part that never ends loses its threads, if they are to be replaced, and then its call alone", async () => {
  const onHang = vi.fn();
  await using engine = await Engine.start({ threads: 2, hang: { limitMs: 100, replaces: true, onHang } });
  const program = compile("y = endless_at_9(x)", { fields: ["x"], operators: [slow("endless_at_9", 1e9)] });
  const other = compile("z = x * 2", { fields: ["x"] });
  const hanging = engine.evaluate(program, filled(1, 9));
  hanging.catch(() => {}); // it is awaited later
  const { table } = await engine.evaluate(other, filled(1, 9));
  expect([...table.getChild("z")!]).toEqual([2, 18]);
  await expect(hanging).rejects.toMatchObject({ code: "E402" });
  expect(onHang).toHaveBeenCalledTimes(2);
  expect([...(await engine.evaluate(program, filled(1, 8))).table.getChild("y")!]).toEqual([1, 8]);
});

test("by default the process is warned", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  await using engine = await Engine.start({ threads: 1, hang: { limitMs: 100 } });
  const program = compile("y = slow_at_9(x)", { fields: ["x"], operators: [slow("slow_at_9", 1500)] });
  await engine.evaluate(program, filled(9));
  expect(warn).toHaveBeenCalledOnce();
  expect(warn.mock.calls[0]![0]).toMatch(/^slow_at_9 has run for \d\.\d s on executor 0, estimated are /);
  warn.mockRestore();
});
