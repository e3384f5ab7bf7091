/** factorloom: compiles financial factor formulas and evaluates them over panels of instruments. */
export type { ParamValue } from "./ast/param_value.ts";
export {
  Cluster,
  type ClusterEvaluateOptions,
  type ClusterOptions,
  type ClusterPanel,
  openClusterPanel,
} from "./cluster/client/cluster.ts";
export { type CompileOptions, compile, type FactorInfo, type Program } from "./compile.ts";
export { type PanelBlock, type PanelSource, panelSource } from "./data/panel/panel_source.ts";
export { openPanelSource, type PanelSourceOptions } from "./data/source/open_panel_source.ts";
export { type ReadPanelOptions, readPanel } from "./data/source/read_panel.ts";
export { openResultWriter, type ResultWriter } from "./data/write/result_writer.ts";
export { writeTable } from "./data/write/write_table.ts";
export {
  type CallOfMany,
  type ChosenCosts,
  type CostChoice,
  Engine,
  type EngineMemory,
  type EngineOptions,
  type EvaluateManyOptions,
  type EvaluateManyReport,
  type EvaluateOptions,
  type EvaluationReport,
  type FactorBatch,
  type KernelChoice,
  type ManyEvaluation,
  type TracedNode,
  type TraceEvent,
  type TraceSink,
} from "./engine.ts";
export {
  DataError,
  type Diagnostic,
  FactorloomError,
  FormulaError,
  InternalError,
  ResourceError,
  UsageError,
} from "./errors.ts";
export type { Bar, BarInput, BarValues } from "./live/input/bars.ts";
export type { LabelsBySymbol, StaticGroups } from "./live/input/group_codes.ts";
export type { LatePolicy, OpenOptions, PushOptions } from "./live/options.ts";
export type { FactorTag, LateRow, LiveRow, RowTiming } from "./live/row.ts";
export type { LiveSession } from "./live/session/session.ts";
export { readCheckpoint, writeCheckpoint } from "./live/session/session_checkpoint.ts";
export type { UpdateOptions, UpdateReport } from "./live/session/update.ts";
export { defineOperator, type Law, type Operator, type OperatorDefinition } from "./operator/definition.ts";
export type { GroupColumn, Panel, TimeColumn, TimeType } from "./panel.ts";
export type { CostModel } from "./plan/cost_model.ts";
