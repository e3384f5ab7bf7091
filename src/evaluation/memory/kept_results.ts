/** Results that wait to be read: in memory as long as nobody needs that, else on disk. */
export interface KeptResults {
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Sends this number of bytes to disk, or all that can go. Never rejects: its owner handles errors. Returns those that went. */
  spill(bytes: number): Promise<number>;
}
