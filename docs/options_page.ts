import { DOORS, type Door, type OptionRow } from "../src/options/doors.ts";
import { OPTION_TABLE, optionsAt } from "../src/options/option_table.ts";

const SPECS = {
  source: "How the bars are read",
  program: "What the formulas are compiled to",
  call: "One evaluation",
  engine: "What runs it",
} as const;

/** Every option of the table with its name at each door, as a page. */
export function optionsPage(): string {
  const sections = Object.entries(SPECS).map(([spec, title]) => {
    const rows = Object.entries<OptionRow>(OPTION_TABLE).filter(([, row]) => row.spec === spec);
    const lines = rows.map(([name, { flag, yaml, help }]) => {
      const code = (text: string | null) => (text === null ? "" : `\`${text}\``);
      return `| \`${name}\` | ${code(flag)} | ${code(yaml)} | ${help} |`;
    });
    const doors = (Object.keys(DOORS) as Door[]).filter((door) =>
      (DOORS[door] as readonly string[]).includes(spec),
    );
    return `## ${title}

Taken by ${doors.map((door) => `\`${door}\``).join(", ")}.

| library | flag | key of a job | |
| --- | --- | --- | --- |
${lines.join("\n")}
`;
  });
  const refusals = (Object.keys(DOORS) as Door[]).flatMap((door) =>
    optionsAt(door).refused.map(({ name, refusal }) => `| \`${door}\` | \`${name}\` | ${refusal.remedy} |`),
  );
  return `# Options

Made from \`src/options/option_table.ts\` by \`npm run docs\`; a test keeps it current, and another tries every option at
every door: its values have the bits of \`evaluate\`.

What a user says is of the bars, of the formulas, of one evaluation of them, or of the engine that runs it. The library,
the commands and jobs take the same options, and an option that one of them cannot honour is refused there with the reason.

${sections.join("\n")}
## Refused

| where | option | instead |
| --- | --- | --- |
${refusals.join("\n")}

A session (\`open\`) and a cluster have options beside these: [live.md](live.md), [cluster.md](cluster.md). \`threads\`,
\`memoryLimit\` and \`hang\` of jobs are keys of \`engine\`: [run.md](run.md).
`;
}
