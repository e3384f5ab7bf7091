import type { Program } from "../../compile.ts";
import { page, scriptsOf } from "../shell/page.ts";
import { explainData } from "./explain_model.ts";
import { EXPLAIN_STYLE } from "./explain_style.ts";

const OWN = ["words", "pictures", "overview", "factor_view", "explain"];

/** What a program is compiled to, as one page that opens from disk: factors, what they share, their graphs, passes. */
export function explainPage(program: Program): string {
  const scripts = scriptsOf(["elements", "side"], OWN, import.meta.url);
  const title = `${program.file}: what it is compiled to`;
  return page({ title, style: EXPLAIN_STYLE, scripts, data: explainData(program) });
}
