import { html, plotted, quiet, readData } from "../shell/elements.client.ts";
import type { FactorData, ReportData } from "./report_data.ts";

/** What the page says of values, shares and places. */

export const data = readData<ReportData>();

/** A value in four digits; nothing for none. */
export function valueText(value: number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4))
    return value.toExponential(3).replace(/\.?0*e\+?/, "e");
  return String(Number(value.toPrecision(4)));
}

/** A share in percent, rounded down, so that only the whole is 100 %, and only nothing 0 %. */
export function shareText(part: number, whole: number): string {
  if (part > 0 && part < whole / 1000) return "< 0.1 %";
  return whole === 0 ? "" : `${(Math.floor((1000 * part) / whole) / 10).toFixed(1)} %`;
}

export function msText(ms: number): string {
  return ms < 1000
    ? `${ms < 10 ? Number(ms.toPrecision(2)) : Math.round(ms)} ms`
    : `${(ms / 1000).toFixed(2)} s`;
}

export const whole = (value: number): string => value.toLocaleString("en");

export function coverageOf({ nullCount }: FactorData): string {
  return shareText(data.rowCount - nullCount, data.rowCount);
}

/** A formula on one line. */
export function oneLine(formula: string): string {
  return formula.replaceAll(/\s+/g, " ");
}

/** A heading with the picture below it and what it shows in a table that opens. */
export function pictured(heading: string, text: string, picture: Element, table: HTMLElement): HTMLElement {
  return html(
    "section",
    {},
    html("h2", {}, heading),
    quiet(text),
    plotted(`picture: ${heading}`, picture),
    html("details", {}, html("summary", {}, "The same as a table"), table),
  );
}
