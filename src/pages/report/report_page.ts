import { clientScript, ELEMENTS, page, SIDE, SORTABLE } from "../shell/page.ts";
import type { ReportData } from "./report_data.ts";
import { REPORT_STYLE } from "./report_style.ts";

const SCRIPTS = [
  ELEMENTS,
  SIDE,
  SORTABLE,
  ...["words", "charts", "overview", "factor_view", "time_view", "report"].map((name) =>
    clientScript(name, import.meta.url),
  ),
];

/** A run as one page that opens from disk: values, coverage, nulls by cause, time by node, what every thread did. */
export function reportPage(data: ReportData): string {
  return page({ title: `${data.file}: a run`, style: REPORT_STYLE, scripts: SCRIPTS, data });
}
