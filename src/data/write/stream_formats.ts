/** What a stream of a result holds: `csv` with a header, `jsonl` with an object a line, `arrow` as an Arrow IPC stream. */
export const STREAM_FORMATS = ["csv", "jsonl", "arrow"] as const;
export type StreamFormat = (typeof STREAM_FORMATS)[number];
