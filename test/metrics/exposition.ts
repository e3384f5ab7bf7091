/** A metric of a text in Prometheus' format, with its samples by their labels as they are written. */
export interface Family {
  readonly kind: string;
  readonly help: string;
  readonly samples: Map<string, number>;
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
const SAMPLE = new RegExp(`^(${NAME})((?:\\{${LABEL}(?:,${LABEL})*\\})?) (\\S+)$`);

/**
 * Reads a text by the rules of the exposition format, version 0.0.4.
 *
 * @throws Error for the first line that breaks a rule.
 */
export function familiesOf(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, Family>();
  let name = "";
  let help: string | null = null;
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const wrong = (why: string) => new Error(`${why}: ${line}`);
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line);
    if (comment?.[1] === "HELP") {
      name = comment[2]!;
      help = comment[3]!;
    } else if (comment) {
      if (comment[2] !== name || help === null || families.has(name))
        throw wrong("a kind in the wrong place");
      if (!/^(counter|gauge|histogram)$/.test(comment[3]!)) throw wrong("not a kind");
      families.set(name, { kind: comment[3]!, help, samples: new Map() });
      help = null;
    } else {
      const [, sample, labels, value] = SAMPLE.exec(line) ?? [];
      const family = families.get(name);
      if (sample === undefined || !family || help !== null) throw wrong("not a sample");
      const isPart = family.kind === "histogram" && /^_(bucket|sum|count)$/.test(sample.slice(name.length));
      if (sample !== name && !(isPart && sample.startsWith(name))) throw wrong("a sample of another metric");
      const number = value === "Nan" ? Number.NaN : Number(value!.replace("+Inf", "Infinity"));
      if (Number.isNaN(number) && value !== "Nan") throw wrong("not a number");
      const series = sample.slice(name.length) + labels;
      if (family.samples.has(series)) throw wrong("a sample comes twice");
      family.samples.set(series, number);
    }
  }
  return families;
}
