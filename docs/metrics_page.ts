import { ENGINE_METRICS, JOB_METRICS, type MetricDefinition } from "../src/metrics/definitions.ts";

/** Every metric with its kind and meaning, and where `engine.metrics()` has it, as a page. */
export function metricsPage(): string {
  const ofEngine = Object.entries(ENGINE_METRICS).flatMap(([part, definitions]) =>
    Object.entries<MetricDefinition>(definitions).map(([field, definition]) => {
      const path = part === "sessions" ? `${part}[].${field}` : `${part}.${field}`;
      return `${rowOf(definition)} \`${path}\` |`;
    }),
  );
  return `# Metrics

Made from \`src/metrics/definitions.ts\` by \`npm run docs\`; a test keeps it current.

\`engine.metrics()\` gives what an engine does now and has done since it was started, as a plain object. \`metricsText\` gives
the same numbers in the text format of Prometheus, for a server of yours:

\`\`\`ts
const { live, sessions, executors, memory } = engine.metrics();
const answer = new Response(await metricsText(engine.metrics()), {
  headers: { "content-type": "text/plain; version=0.0.4" },
});
\`\`\`

\`factorloom run\` with \`metrics: { port }\` serves those of its jobs, and \`executors\` and \`memory\` of their engine, at
\`/metrics\` ([run.md](run.md#metrics)). It opens no sessions.

What counts:

- Counting costs a push some additions; nothing is measured for metrics alone. Reading takes some 0.1 ms, the text 1 ms. The
  first text loads a library, which takes the main thread 40 to 100 ms once (2 cores with other work, 2026-11-29): a service
  with budgets asks for one before its first push.
- The label \`session\` is \`session.number\`: sessions of an engine are counted from 1 on. A session that is closed is there
  no more; \`live\` still counts what it did.
- A push, a revision or \`also\` counts when its table is made, the rows of a push alone; a call that is refused, aborted or
  fails does not. Budgets are counted where a call has \`budgetMs\`: met and missed by \`row.missedBudget\`, late and
  skipped factors by \`row.tags\`.
- Calls that wait for their turn are pushes behind others, above all, and any other call of the session. A push whose rows
  have begun does not wait, though its table may not be there yet.
- Busy time is that of parts, by the executors' own clocks, and is added when a block of rows has ended; blocks that failed
  or were aborted are left out. The share of the last minute is
  \`rate(factorloom_executor_busy_seconds_total[1m]) / factorloom_executors\`.
- A lost executor is one whose thread ended before the engine was closed, for whatever reason; another one takes its place.
  Where the scheduler's thread is lost the engine is lost as well (E403), and \`factorloom_executors\` is 0. \`run\` then
  starts another engine, whose counters begin at 0.
- With \`hang: false\` nobody looks for hangs: \`executors.hangs\` is null, and the text has no such metric.
- [memory.md](memory.md) says what the figures of memory mean.

## Of an engine

| metric | kind | labels | | \`engine.metrics()\` |
| --- | --- | --- | --- | --- |
${ofEngine.join("\n")}

## Of jobs

| metric | kind | labels | |
| --- | --- | --- | --- |
${Object.values(JOB_METRICS).map(rowOf).join("\n")}
`;
}

function rowOf({ name, kind, labels, help }: MetricDefinition): string {
  return `| \`${name}\` | ${kind} | ${labels.join(", ")} | ${help} |`;
}
