import type { Program } from "../../compile.ts";
import { clientScript, ELEMENTS, page, SIDE } from "../shell/page.ts";
import { explainData } from "./explain_model.ts";
import { EXPLAIN_STYLE } from "./explain_style.ts";

const SCRIPTS = [
  ELEMENTS,
  SIDE,
  ...["words", "pictures", "overview", "factor_view", "explain"].map((name) =>
    clientScript(name, import.meta.url),
  ),
];

/** What a program is compiled to, as one page that opens from disk: factors, what they share, their graphs, passes. */
export function explainPage(program: Program): string {
  return page({
    title: `${program.file}: what it is compiled to`,
    style: EXPLAIN_STYLE,
    scripts: SCRIPTS,
    data: explainData(program),
  });
}
