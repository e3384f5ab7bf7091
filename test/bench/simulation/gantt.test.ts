import { describe, expect, test } from "vitest";
import { ganttSvg } from "../../../bench/simulation/gantt.ts";
import { randomGraph } from "../../../bench/simulation/random_graphs.ts";
import { simulate } from "../../../bench/simulation/simulate.ts";
import type { SimulatedPart } from "../../../bench/simulation/simulation.ts";

const OPTIONS = { title: "a < b & c", subtitle: "of two", executors: 2, blocks: 2 };

const node = (kind: string) => {
  return { kind, inputs: [], partCount: 1, weight: 1, costNs: 1, moveNs: 0, bytes: 0 };
};
const bar = (block: number, id: number, executor: number, start: number, end: number): SimulatedPart => {
  return { block, node: id, part: 0, executor, queued: 0, start, end };
};

/** Elements in the order of their start tags. @throws if tags do not nest or an attribute is not quoted. */
function elementsOf(svg: string): { readonly tag: string; readonly attributes: Record<string, string> }[] {
  const open: string[] = [];
  const elements: { tag: string; attributes: Record<string, string> }[] = [];
  for (const [token, close, tag, text, selfClose] of svg.matchAll(
    /<(\/?)([a-z]+)((?:\s+[a-zA-Z][a-zA-Z0-9-]*="[^"<&]*")*)\s*(\/?)>|[<>]|&(?!(?:lt|gt|amp);)/g,
  )) {
    if (tag === undefined) throw new Error(`stray ${token}`);
    if (close) {
      if (open.pop() !== tag) throw new Error(`</${tag}> closes something else`);
      continue;
    }
    const attributes = [...text!.matchAll(/([a-zA-Z][a-zA-Z0-9-]*)="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]);
    elements.push({ tag, attributes: Object.fromEntries(attributes) });
    if (!selfClose) open.push(tag);
  }
  expect(open).toEqual([]);
  return elements;
}

describe("a chart of a schedule", () => {
  const parts = [bar(0, 0, 0, 0, 400), bar(0, 1, 1, 100, 900), bar(1, 0, 0, 500, 1000)];
  const svg = ganttSvg([node("lanes"), node("rows")], parts, OPTIONS);

  test("is well-formed and has title, legend and axes with units", () => {
    expect(elementsOf(svg)[0]).toMatchObject({
      tag: "svg",
      attributes: { xmlns: "http://www.w3.org/2000/svg" },
    });
    for (const text of ["a &lt; b &amp; c", "of two", "lanes", "rows", "time (ns)", "executor"])
      expect(svg).toContain(`>${text}</text>`);
    expect(svg).not.toMatch(/href|url\(|<script/);
  });

  test("has a bar for each part, where and as long as it ran, in the colour of kind and block", () => {
    const named = [...svg.matchAll(/<rect ([^>]*)><title>([^<]*)<\/title>/g)].map(([, shape, title]) => {
      const [x, y, width] = ["x", "y", "width"].map((name) =>
        Number(new RegExp(` ?${name}="([^"]*)"`).exec(shape!)![1]),
      );
      return { x: x!, y: y!, width: width!, fill: /fill="([^"]*)"/.exec(shape!)![1], title: title! };
    });
    // 1000 ns are 1200 pixels, from 64 on; half a pixel is air.
    expect(named.map(({ x, width }) => [x, width])).toEqual([
      [64, 479.5],
      [184, 959.5],
      [664, 599.5],
    ]);
    expect(named[0]!.y).toBe(named[2]!.y);
    expect(named[1]!.y).toBeGreaterThan(named[0]!.y);
    expect(new Set(named.map(({ fill }) => fill)).size).toBe(3);
    expect(named[2]!.title).toBe("lanes node 0, part 0, block 1: 500 ns, 500 ns long");
  });

  test("joins what is too fine to be seen", () => {
    const fine = Array.from({ length: 5000 }, (_, i) => bar(0, 0, 0, 2 * i, 2 * i + 1));
    const chart = ganttSvg([node("lanes")], fine, OPTIONS);
    expect(elementsOf(chart).length).toBeLessThan(4000);
    expect(chart.length).toBeLessThan(500_000);
  });

  test("of many executors stays within the picture", () => {
    const nodes = randomGraph("diamonds", 1);
    const simulation = simulate(nodes, {
      executors: 200,
      blocks: 2,
    });
    const elements = elementsOf(ganttSvg(nodes, simulation.parts, { ...OPTIONS, executors: 200 }));
    const [width, height] = elements[0]!.attributes.viewBox!.split(" ").slice(2).map(Number) as [
      number,
      number,
    ];
    for (const { tag, attributes } of elements.slice(2)) {
      if (tag !== "rect") continue;
      expect(Number(attributes.x) + Number(attributes.width)).toBeLessThanOrEqual(width);
      expect(Number(attributes.y) + Number(attributes.height)).toBeLessThanOrEqual(height);
    }
  });
});
