/**
 * factorloom: compiles financial factor formulas and evaluates them over panels of instruments.
 *
 * @packageDocumentation
 */
export type { ParamValue } from "./ast/param_value.ts";
export type { ParamOptions } from "./call_params.ts";
export type {
  ClusterFacts,
  ClusterProgress,
  GroupProgress,
  PythonVersions,
  TlsFiles,
} from "./cluster/bridge/bridge.ts";
export {
  Cluster,
  type ClusterEvaluated,
  type ClusterPanel,
  openClusterPanel,
} from "./cluster/client/cluster.ts";
export type { ClusterEvaluateOptions, ClusterHangOptions, ClusterOptions } from "./cluster/client/options.ts";
export type { ClusterHang } from "./cluster/protocol/protocol.ts";
export { type CompileOptions, compile, type FactorInfo, type Program } from "./compile.ts";
export type { GraphOutput, GraphTask, ProgramGraph } from "./dag/graph_data.ts";
export {
  type BlockRequest,
  type PanelBlock,
  type PanelSource,
  panelSource,
  type RowRange,
} from "./data/panel/panel_source.ts";
export { openPanelSource } from "./data/source/open_panel_source.ts";
export { type BarColumns, type BarRows, type GivenBars, panelFrom } from "./data/source/panel_from.ts";
export { readPanel } from "./data/source/read_panel.ts";
export type { PanelSourceOptions, ReadPanelOptions } from "./data/source/source_options.ts";
export { openResultWriter, type ResultWriter } from "./data/write/result_writer.ts";
export { writeTable } from "./data/write/write_table.ts";
export type { DifferingCells, ValuePair } from "./difference/cell_tally.ts";
export type { DifferenceOrigin } from "./difference/difference_origins.ts";
export type { DiffOptions, ProgramDifference, TracedDifference } from "./difference/program_difference.ts";
export type { ColumnDifference } from "./difference/result_comparison.ts";
export {
  type DiffResultsOptions,
  diffResults,
  type MatchedNames,
  type ResultDifference,
} from "./difference/result_difference.ts";
export { Engine, type Reported } from "./engine.ts";
export {
  DataError,
  type Diagnostic,
  FactorloomError,
  FormulaError,
  InternalError,
  ResourceError,
  UsageError,
} from "./errors.ts";
export type { Evaluated, EvaluationReport, StreamReport } from "./evaluation/evaluate_table.ts";
export type { EvaluateManyReport } from "./evaluation/many/evaluate_many.ts";
export type { CallOfMany, EvaluateManyOptions } from "./evaluation/many/many_calls.ts";
export type { EngineMemory } from "./evaluation/memory/engine_memory.ts";
export type { MemoryThresholds } from "./evaluation/memory/thresholds.ts";
export type { EvaluateOptions, KernelChoice, Restarts, Sessions } from "./evaluation/options.ts";
export type { ChosenCosts, CostChoice } from "./evaluation/stored_costs.ts";
export type { ExecutorMetrics } from "./execution/executor_metrics.ts";
export type {
  OpenedEvent,
  PartEvent,
  QueueEvent,
  ScheduledEvent,
  StartedEvent,
  TracedNode,
  TraceEvent,
  TraceSink,
} from "./execution/trace/trace_events.ts";
export type { HangingPart, HangOptions } from "./execution/watch/hang_watch.ts";
export type { Bar, BarInput, BarValues } from "./live/input/bars.ts";
export type { LabelsBySymbol, StaticGroups } from "./live/input/group_codes.ts";
export type { LiveCounts, SessionMetrics } from "./live/live_metrics.ts";
export type { GivenParams } from "./live/live_params.ts";
export type { AlsoOptions, CatchUpPolicy, LatePolicy, OpenOptions, PushOptions } from "./live/options.ts";
export type { FactorTag, LateRow, LiveRow, RowTiming } from "./live/row.ts";
export type { LiveSession } from "./live/session/session.ts";
export type { UpdateOptions, UpdateReport } from "./live/session/update.ts";
export type { EngineMetrics, HostMetrics } from "./metrics/engine_metrics.ts";
export { metricsText } from "./metrics/metrics_text.ts";
export {
  type CommonDefinition,
  type CrossSectionDefinition,
  type DialectName,
  defineOperator,
  type ElementwiseDefinition,
  type Example,
  type KernelDefinition,
  type Law,
  type Operator,
  type OperatorDefinition,
  type Parameter,
  type ParameterKind,
  type ParameterList,
  type PerSeries,
  type RecursiveDefinition,
  type RewriteDefinition,
  type RollingDefinition,
  type Settings,
  type SettingsOf,
  type Unit,
  type WindowRows,
} from "./operator/definition.ts";
export {
  type DeclaredCause,
  type EngineCause,
  NULL_CAUSES,
  type NullCause,
  type NullCauseText,
  type NullWhere,
} from "./operator/null_causes.ts";
export type { EngineOptions } from "./options/engine_options.ts";
export type { GroupColumn, Panel, TimeColumn, TimeType } from "./panel.ts";
export type { CostModel, CostPoint, OperatorCost } from "./plan/cost_model.ts";
export type { NodeKind } from "./plan/plan.ts";
export type {
  Dependency,
  ExplainedExpression,
  ExplainedWindow,
  Explanation,
  ReasonStep,
  WrittenPlace,
} from "./reasons/explanation.ts";
export type { FactorNulls, NullReport, NullSource } from "./reasons/null_report.ts";
export type { NullsOptions } from "./reasons/nulls.ts";
export type { WhyFactorOptions, WhyOptions, WhyRowsOptions } from "./reasons/why.ts";
export type { ShortOfHistory } from "./state/history.ts";
