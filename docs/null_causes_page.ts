import {
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
counts. Operators of your own do so in \`nullWhere\` ([user operators](user_operators.md)).

${tableOf(true)}

## Causes that the engine finds

${tableOf(false)}
`;
}
