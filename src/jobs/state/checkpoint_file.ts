/** The state of a job as bytes: a line of JSON, then the checkpoints of its plans. */
import { checkpointDamaged } from "../../execution/checkpoint.ts";
import type { GroupLabels } from "./lane_input.ts";

export interface SavedJobState {
  readonly labels: GroupLabels;
  /** `RestartFinder.last`; null if windows cross sessions. */
  readonly lastStretch: number | null;
  readonly checkpoints: readonly Uint8Array[];
}

interface Header extends Omit<SavedJobState, "checkpoints"> {
  readonly sizes: readonly number[];
}

const LINE_END = 10;

export function packJobState({ checkpoints, ...rest }: SavedJobState): Uint8Array[] {
  const header: Header = { ...rest, sizes: checkpoints.map(({ length }) => length) };
  return [Buffer.from(`${JSON.stringify(header)}\n`), ...checkpoints];
}

/** @throws DataError E351 for damaged bytes. */
export function unpackJobState(bytes: Uint8Array): SavedJobState {
  const headerEnd = bytes.indexOf(LINE_END);
  const { sizes, ...rest } = parseHeader(bytes.subarray(0, Math.max(0, headerEnd)));
  let offset = headerEnd + 1;
  const checkpoints = sizes.map((size) => {
    const checkpoint = bytes.slice(offset, offset + size);
    offset += size;
    return checkpoint;
  });
  return { ...rest, checkpoints };
}

function parseHeader(bytes: Uint8Array): Header {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as Header;
  } catch (cause) {
    throw checkpointDamaged("it has no header", { cause });
  }
}
