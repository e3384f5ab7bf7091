import { builtInRegistry } from "../operators/index.ts";
import { kernelOperators } from "../src/operator/definition.ts";
import {
  declaredCauses,
  isDeclaredCause,
  NULL_CAUSES,
  type NullCause,
  type NullCauseText,
} from "../src/operator/null_causes.ts";

/** Every cause of null as a page. */
export function nullCausesPage(): string {
  const causes = Object.entries(NULL_CAUSES) as [NullCause, NullCauseText][];
  const tableOf = (isDeclared: boolean) =>
    [
      "| cause | what it means | what removes it |",
      "| --- | --- | --- |",
      ...causes
        .filter(([cause]) => isDeclaredCause(cause) === isDeclared)
        .map(([cause, { meaning, remedy }]) => `| \`${cause}\` | ${meaning} | ${remedy} |`),
    ].join("\n");
  return `# Causes of null

Made from \`src/operator/null_causes.ts\` by \`npm run docs\`; a test keeps it current.

## Causes that operators declare

Each operator says itself for which of these causes it has no value ([operators](operators.md)); the first that holds
counts. Operators of your own do so in \`nullWhere\` ([user operators](user_operators.md)). The engine finds an
\`overflow\` also where no operator declares it: where finite values give an infinity.

${tableOf(true)}

${declaringTable()}

## Causes that the engine finds

${tableOf(false)}
`;
}

/** Which operators declare each cause. */
function declaringTable(): string {
  const rows = kernelOperators(builtInRegistry.operators).flatMap(({ name, nullWhere }) =>
    declaredCauses(nullWhere).map((cause) => ({ cause, link: `[${name}](operators.md#${name})` })),
  );
  const byCause = Map.groupBy(rows, ({ cause }) => cause);
  return [
    "| cause | operators that declare it |",
    "| --- | --- |",
    ...Object.keys(NULL_CAUSES)
      .filter(isDeclaredCause)
      .map((cause) => `| \`${cause}\` | ${(byCause.get(cause) ?? []).map(({ link }) => link).join(", ")} |`),
  ].join("\n");
}
