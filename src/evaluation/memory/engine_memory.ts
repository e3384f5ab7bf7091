/** Memory of an engine, in bytes. */
export interface EngineMemory {
  readonly limitBytes: number;
  /** Used by open evaluations: columns, state, staged input, results, panels. */
  readonly managedBytes: number;
  /** Results in memory that wait to be read. */
  readonly keptBytes: number;
  /** Results on disk that wait to be read. */
  readonly spilledBytes: number;
  /** Total bytes ever written to disk. */
  readonly spilledBytesTotal: number;
  /** Resident size of the process. */
  readonly processBytes: number;
  /** What of it is none of the above: code, JavaScript heaps, tables of the caller, closed plans that V8 still holds. */
  readonly unmanagedBytes: number;
  /** What of that has come in the last 30 s, as far as the readings of this object tell: it may go again. */
  readonly unmanagedRecentBytes: number;
  /** Calls that wait for room. */
  readonly waitingCount: number;
  /** Whether blocks of one call at a time begin, because the process takes more than the share `pause`. */
  readonly isPaused: boolean;
}
