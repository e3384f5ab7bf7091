import {
  Choice,
  Diagram,
  NonTerminal,
  OneOrMore,
  Optional,
  Sequence,
  Skip,
  Terminal,
  ZeroOrMore,
} from "@prantlf/railroad-diagrams";
import { type GrammarNode, type GrammarRule, grammarRules } from "./ebnf.ts";

/** Colours that read on light and dark pages alike; the diagram carries them, so that it needs no other file. */
const STYLE =
  "<style>path{stroke-width:2;stroke:#5b7083;fill:none}rect{stroke-width:2;stroke:#5b7083;fill:#eef3f8}" +
  "g.terminal rect{fill:#dce9f7}text{font:14px monospace;text-anchor:middle;fill:#16324f}</style>";

/** One SVG picture for each rule of the parser. */
export function railroadDiagrams(): { name: string; svg: string }[] {
  return grammarRules().map(({ name, definition }: GrammarRule) => {
    const svg = new Diagram(draw(definition)).format(10).toString();
    const standalone = svg
      .replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
      .replace(/(<svg [^>]*>)/, `$1${STYLE}`);
    return { name, svg: `${standalone.trim()}\n` };
  });
}

function draw(node: GrammarNode): unknown {
  switch (node.kind) {
    case "terminal":
      return new Terminal(node.text);
    case "rule":
      return new NonTerminal(node.text);
    case "sequence":
      return new Sequence(...node.items.map(draw));
    case "choice":
      return new Choice(0, ...node.items.map(draw));
    case "optional":
      return new Optional(draw(node.item));
    case "repeat": {
      const separator = node.separator === null ? new Skip() : draw(node.separator);
      return node.least === 1
        ? new OneOrMore(draw(node.item), separator)
        : new ZeroOrMore(draw(node.item), separator);
    }
  }
}
