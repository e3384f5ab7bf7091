import { drawn, label, svg } from "../shell/elements.client.ts";
import type { TimelineData, ValueData } from "./report_data.ts";
import { msText, valueText, whole } from "./words.client.ts";

const LEFT = 52;
const TOP = 12;
const BOTTOM = 26;

/** The shares of points along time as an area from 0 to 1; null leaves a gap. */
function areaPath(shares: readonly (number | null)[], width: number, height: number): string {
  const step = width / Math.max(1, shares.length);
  const bars = shares.map((share, i) => {
    return share === null ? "" : barPath(i * step, height, step, share * height);
  });
  return bars.join("");
}

/** A bar upwards from a corner at the left; nothing without height. */
const barPath = (x: number, bottom: number, width: number, high: number): string =>
  high <= 0 ? "" : `M${figure(x)} ${figure(bottom)}v${figure(-high)}h${figure(width)}v${figure(high)}z`;

const figure = (value: number): string => String(Math.round(value * 100) / 100);

/** A picture for a cell of a table. */
function spark(kind: string, width: number, height: number, area: SVGElement): SVGElement {
  return svg(
    "svg",
    { class: `spark ${kind}`, width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    svg("rect", { class: "ground", width, height }),
    area,
  );
}

/** Shares of the values along time. */
export function coverageSpark(shares: readonly (number | null)[]): SVGElement {
  return spark("", 120, 20, svg("path", { class: "area", d: areaPath(shares, 120, 20) }));
}

export function histogramSpark({ histogram: { counts } }: ValueData): SVGElement {
  const most = Math.max(...counts);
  const shares = counts.map((count) => count / most);
  return spark("", 96, 20, svg("path", { class: "area", d: areaPath(shares, 96, 20) }));
}

/** A bar in a cell of a table, `share` of it filled. */
export function shareBar(share: number, kind = ""): SVGElement {
  return spark(kind, 120, 12, svg("rect", { class: "area", width: figure(120 * share), height: 12 }));
}

/** Coverage along time, with times at the ends and in the middle. */
export function coveragePicture(
  shares: readonly (number | null)[],
  times: readonly string[],
  width: number,
): SVGElement {
  const [inner, height] = [width - LEFT - 10, 150];
  const lines = [0, 0.5, 1].flatMap((share) => {
    const y = TOP + (1 - share) * height;
    return [
      svg("line", { class: "rule", x1: LEFT, x2: LEFT + inner, y1: y, y2: y }),
      label(LEFT - 6, y + 4, "end", `${100 * share} %`),
    ];
  });
  const step = inner / Math.max(1, times.length);
  const marks = [...new Set([0, Math.floor((times.length - 1) / 2), times.length - 1])].map(
    (point, i, all) => {
      const anchor = i === 0 ? "start" : i === all.length - 1 ? "end" : "middle";
      const x = i === all.length - 1 && i > 0 ? LEFT + inner : LEFT + point * step;
      return label(x, TOP + height + 18, anchor, times[point] ?? "");
    },
  );
  const area = svg("path", {
    class: "area",
    d: areaPath(shares, inner, height),
    transform: `translate(${LEFT} ${TOP})`,
  });
  const size = [width, TOP + height + BOTTOM] as const;
  return drawn("Share of rows with a value, over time", size, {}, area, ...lines, ...marks);
}

/** How often values are in each interval. */
export function histogramPicture({ histogram, min, max }: ValueData, width: number): SVGElement {
  const { low, high, counts } = histogram;
  const [inner, height] = [width - LEFT - 10, 150];
  const most = Math.max(...counts);
  const step = inner / counts.length;
  const bars = counts.map((count, i) => {
    const tall = (count / most) * height;
    const from = low + ((high - low) * i) / counts.length;
    const to = low + ((high - low) * (i + 1)) / counts.length;
    const title = svg("title", {}, `${valueText(from)} to ${valueText(to)}: ${whole(count)}`);
    const place = { x: figure(LEFT + i * step + 0.5), width: figure(Math.max(0.5, step - 1)) };
    return svg(
      "rect",
      { class: "area", ...place, y: figure(TOP + height - tall), height: figure(tall) },
      title,
    );
  });
  const base = TOP + height;
  return drawn(
    `Histogram between ${valueText(min)} and ${valueText(max)}`,
    [width, base + BOTTOM],
    {},
    ...bars,
    svg("line", { class: "rule", x1: LEFT, x2: LEFT + inner, y1: base, y2: base }),
    label(LEFT - 6, TOP + 8, "end", whole(most)),
    label(LEFT, base + 18, "start", valueText(low)),
    label(LEFT + inner / 2, base + 18, "middle", valueText(low / 2 + high / 2)),
    label(LEFT + inner, base + 18, "end", valueText(high)),
  );
}

const TRACK_LEFT = 96;
const TRACK_HEIGHT = 40;

/** What every thread did: each bin of a track is filled as far as the thread was busy. */
export function timelinePicture({ tracks, binMs, residentBytes }: TimelineData, width: number): SVGElement {
  const binCount = residentBytes.length;
  const inner = width - TRACK_LEFT - 10;
  const step = inner / Math.max(1, binCount);
  const rows = tracks.flatMap(({ name, works }, row) => {
    const top = TOP + row * (TRACK_HEIGHT + 10);
    const filled = new Float64Array(binCount);
    const paths = works.map(({ kind, percents }) => {
      const bars = percents.map((percent, bin) => {
        const high = (Math.min(100 - filled[bin]!, percent) / 100) * TRACK_HEIGHT;
        const bottom = top + TRACK_HEIGHT - (filled[bin]! / 100) * TRACK_HEIGHT;
        filled[bin]! += Math.min(100 - filled[bin]!, percent);
        return barPath(TRACK_LEFT + bin * step, bottom, step, high);
      });
      return svg("path", { class: `work ${kind}`, d: bars.join("") });
    });
    return [
      label(TRACK_LEFT - 8, top + TRACK_HEIGHT / 2 + 4, "end", name),
      svg("rect", { class: "ground", x: TRACK_LEFT, y: top, width: inner, height: TRACK_HEIGHT }),
      ...paths,
    ];
  });
  const base = TOP + tracks.length * (TRACK_HEIGHT + 10);
  const wallMs = binCount * binMs;
  const marks = roundSteps(wallMs).flatMap((ms) => {
    const x = TRACK_LEFT + (ms / wallMs) * inner;
    return [
      svg("line", { class: "rule", x1: x, x2: x, y1: TOP, y2: base }),
      label(x, base + 10, ms === 0 ? "start" : "middle", msText(ms)),
    ];
  });
  const name = "What every thread did, over the time of the run";
  return drawn(name, [width, base + 16], {}, ...marks, ...rows);
}

/** 0 and at most ten round multiples of a step, short of the end, so that their texts have room. */
function roundSteps(end: number): number[] {
  const power = 10 ** Math.floor(Math.log10(end / 4));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one * 5 >= end)!;
  return Array.from({ length: Math.floor((0.96 * end) / step) + 1 }, (_, i) => i * step);
}
