import { page, scriptsOf } from "../shell/page.ts";
import type { ReportData } from "./report_data.ts";
import { REPORT_STYLE } from "./report_style.ts";

const SHELL = ["elements", "side", "sortable"];
const OWN = ["words", "charts", "overview", "factor_view", "time_view", "report"];

/** A run as one page that opens from disk: values, coverage, nulls by cause, time by node, what every thread did. */
export function reportPage(data: ReportData): string {
  const scripts = scriptsOf(SHELL, OWN, import.meta.url);
  return page({ title: `${data.file}: a run`, style: REPORT_STYLE, scripts, data });
}
