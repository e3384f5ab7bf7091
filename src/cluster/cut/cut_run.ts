import { cannotHoldFactor } from "../protocol/errors.ts";

/** What a cut is chosen from. Outputs are numbers, as in the graph of the call. */
export interface CutSpec {
  /** Output rows `[first, end)`; evaluations may begin at row 0. */
  readonly first: number;
  readonly end: number;
  readonly laneCount: number;
  /** Threads of all workers together. */
  readonly threadCount: number;
  /** For each output the rows before a row that its value depends on, Infinity for all. */
  readonly lookbacks: readonly number[];
  /** Estimated ns of a row of these outputs together, with reading, without writing the results. */
  costNs(outputs: readonly number[]): number;
  /** Divides outputs into groups that an executor's memory holds: at least `groups`, if there are enough outputs. */
  divide(outputs: readonly number[], groups: number): number[][];
  /** Results that go back to the client; null for a dataset, which workers write. */
  readonly held: HeldBytes | null;
  /** Rows of a slab that the user prescribes. */
  readonly slabRows?: number | undefined;
}

/** Limits for results that workers hold until the client has taken them. */
export interface HeldBytes {
  /** Of the value of one task. */
  readonly valueBytes: number;
  /** Of all that the client has requested and not taken. */
  readonly aheadBytes: number;
}

/** How a run is cut; the shares have outputs for names. */
export interface RunCut {
  readonly slabRows: readonly number[];
  readonly chunkRows: number;
  readonly shares: readonly OutputShare[];
}

export interface OutputShare {
  readonly outputs: readonly number[];
  /** As `Share.warmUpRows`. */
  readonly warmUpRows: number | null;
}

/** Bytes that travel at a time. */
const CHUNK_BYTES = 32 * 2 ** 20;
/** Of a value and whether its cell is there. */
const VALUE_BYTES = 8;
/** Handing over a value of the result: to a part of a dataset, or to the client. */
const WRITE_NS = 25;
/** Writing a value to a column file and reading it again, where columns of several tasks make a part. */
const COLUMN_FILE_NS = 8;
/** Slabs per thread, so that threads do not wait for the last one; each costs its warm-up. */
const SLABS_PER_THREAD_MAX = 4;
/** Groups of outputs over all rows, if there is nothing else to do. */
const HISTORIES_PER_THREAD = 2;

/**
 * Cuts a run. Outputs of finite lookback are evaluated in slabs of rows, after the rows that they look back to. Those
 * without end are evaluated over all rows, and so are those whose warm-up over all slabs is longer than that. Outputs that
 * look back far are evaluated apart where the warm-up of the others costs more than what they share. Slabs are as many as
 * end earliest on these threads.
 *
 * @throws UsageError E639 if one factor over all rows is too large to be held by a worker.
 */
export function cutRun(spec: CutSpec): RunCut {
  const { first, end, threadCount, lookbacks } = spec;
  const all = lookbacks.map((_, output) => output);
  const longest = slabRowsToTry(spec, all.length)[0]!;
  const isHeld = spec.held === null || historyBytes(spec) <= spec.held.valueBytes;
  const isEndless = (output: number) =>
    lookbacks[output] === Number.POSITIVE_INFINITY ||
    (isHeld && warmUps(spec, longest, lookbacks[output]!) > end);
  const groups = separated(
    spec,
    longest,
    all.filter((output) => !isEndless(output)),
    all.some(isEndless),
  );
  const histories = historiesOf(spec, groups, all.filter(isEndless));
  const shares = [
    ...histories.map((outputs): OutputShare => ({ outputs, warmUpRows: null })),
    ...groups
      .flatMap((outputs) => spec.divide(outputs, 1))
      .map((outputs): OutputShare => ({ outputs, warmUpRows: longestLookback(spec, outputs) })),
  ];
  // Even without a factor that is wanted, the output has rows.
  if (shares.length === 0) shares.push({ outputs: [], warmUpRows: 0 });
  let best = { slabRows: [first, Math.max(first, end)], endNs: Number.POSITIVE_INFINITY };
  for (const rows of slabRowsToTry(spec, all.length)) {
    const slabRows = slabsOf(spec, rows, shares);
    const tasksNs = shares.flatMap((share) => tasksOf(spec, share, slabRows));
    const endNs = makespan(tasksNs, threadCount);
    if (endNs < best.endNs) best = { slabRows, endNs };
  }
  const chunkRows = Math.max(1, Math.floor(CHUNK_BYTES / rowBytes(spec, all.length)));
  const longestSlab = Math.max(1, ...best.slabRows.slice(1).map((row, slab) => row - best.slabRows[slab]!));
  return { slabRows: best.slabRows, chunkRows: Math.min(longestSlab, chunkRows), shares };
}

/** Estimated ns of the tasks of a share. */
function tasksOf(spec: CutSpec, { outputs, warmUpRows }: OutputShare, slabRows: readonly number[]): number[] {
  const rowNs = spec.costNs(outputs);
  const writeNs = WRITE_NS * outputs.length * spec.laneCount;
  if (warmUpRows === null) return [rowNs * spec.end + writeNs * (spec.end - spec.first)];
  return slabRows.slice(1).map((end, slab) => {
    const rows = end - slabRows[slab]!;
    return (rowNs + writeNs) * rows + rowNs * Math.min(warmUpRows, slabRows[slab]!);
  });
}

/**
 * First rows of slabs of about this length, and the end of the last. In a dataset the first slab, which has no rows to run
 * before its own, is longer by what these cost.
 */
function slabsOf(spec: CutSpec, rows: number, shares: readonly OutputShare[]): number[] {
  const { first, end, held, slabRows } = spec;
  const even = [...slabStarts(spec, rows), Math.max(first, end)];
  if (held !== null || slabRows !== undefined) return even;
  const count = even.length - 1;
  const others = Math.ceil((end - first - savedRows(spec, shares)) / count);
  const second = end - others * (count - 1);
  if (count < 2 || others < 1) return even;
  return [first, ...Array.from({ length: count }, (_, slab) => second + slab * others)];
}

/** Rows of all work that the warm-ups cost which the first slab does without. */
function savedRows(spec: CutSpec, shares: readonly OutputShare[]): number {
  let [savedNs, rowNs] = [0, 0];
  for (const { outputs, warmUpRows } of shares) {
    if (warmUpRows === null) continue;
    const ns = spec.costNs(outputs);
    savedNs += ns * Math.max(0, warmUpRows - spec.first);
    rowNs += ns + WRITE_NS * outputs.length * spec.laneCount;
  }
  return Math.floor(savedNs / Math.max(1, rowNs));
}

/** Outputs of finite lookback in one group, or those that look back further in a second one if that costs less. */
function separated(
  spec: CutSpec,
  slabRows: number,
  finite: readonly number[],
  isJoined: boolean,
): (readonly number[])[] {
  const { first, end, laneCount, held, lookbacks } = spec;
  const ns = (outputs: readonly number[]) =>
    outputs.length === 0
      ? 0
      : spec.costNs(outputs) * (end - first + warmUps(spec, slabRows, longestLookback(spec, outputs)));
  const joinNs = held === null && !isJoined ? COLUMN_FILE_NS * finite.length * laneCount * (end - first) : 0;
  let best = { groups: [finite], ns: ns(finite) };
  for (const warmUp of new Set(finite.map((output) => lookbacks[output]!))) {
    const groups = [
      finite.filter((output) => lookbacks[output]! <= warmUp),
      finite.filter((output) => lookbacks[output]! > warmUp),
    ];
    const apartNs = groups.reduce((sum, outputs) => sum + ns(outputs), joinNs);
    if (groups[1]!.length > 0 && apartNs < best.ns) best = { groups, ns: apartNs };
  }
  // The largest comes last: it makes the parts.
  return best.groups.filter(({ length }) => length > 0).sort((a, b) => spec.costNs(a) - spec.costNs(b));
}

/** Rows that slabs of this length run before their own, together. */
function warmUps(spec: CutSpec, slabRows: number, lookback: number): number {
  return slabStarts(spec, slabRows).reduce((sum, start) => sum + Math.min(lookback, start), 0);
}

/** Groups of the outputs that are evaluated over all rows: none takes much longer than what a thread has to do. */
function historiesOf(
  spec: CutSpec,
  groups: readonly (readonly number[])[],
  endless: readonly number[],
): number[][] {
  const { first, end, threadCount, held } = spec;
  if (endless.length === 0) return [];
  const ns = spec.costNs(endless) * end;
  const othersNs = groups.reduce((sum, outputs) => sum + spec.costNs(outputs), 0) * (end - first);
  const groupCount = Math.ceil((HISTORIES_PER_THREAD * threadCount * ns) / Math.max(1, ns + othersNs));
  const bytesMax = held?.valueBytes ?? Number.POSITIVE_INFINITY;
  const outputsMax = Math.min(endless.length, Math.floor(bytesMax / historyBytes(spec)));
  if (outputsMax === 0) throw cannotHoldFactor(historyBytes(spec), bytesMax);
  return spec
    .divide(endless, Math.min(endless.length, groupCount))
    .flatMap((group) =>
      Array.from({ length: Math.ceil(group.length / outputsMax) }, (_, part) =>
        group.slice(part * outputsMax, (part + 1) * outputsMax),
      ),
    );
}

/** Lengths of slabs, the longest first: for one to some slabs per thread, as short as results that are held must be. */
function slabRowsToTry(spec: CutSpec, outputCount: number): number[] {
  const { first, end, threadCount, held, slabRows } = spec;
  const rowCount = Math.max(1, end - first);
  if (slabRows !== undefined) return [Math.min(rowCount, slabRows)];
  const bytes = rowBytes(spec, outputCount);
  const rowsMax =
    held === null
      ? rowCount
      : Math.floor(Math.min(held.valueBytes, held.aheadBytes / (threadCount + 1)) / bytes);
  const lengths = Array.from({ length: SLABS_PER_THREAD_MAX }, (_, slabs) =>
    Math.max(1, Math.min(rowsMax, Math.ceil(rowCount / (threadCount * (slabs + 1))))),
  );
  return [...new Set(lengths)];
}

function slabStarts({ first, end }: CutSpec, rows: number): number[] {
  return Array.from(
    { length: Math.max(0, Math.ceil((end - first) / rows)) },
    (_, slab) => first + slab * rows,
  );
}

const longestLookback = ({ lookbacks }: CutSpec, outputs: readonly number[]) =>
  outputs.reduce((most, output) => Math.max(most, lookbacks[output]!), 0);

/** Bytes of a row of results. */
const rowBytes = ({ laneCount }: CutSpec, outputCount: number) =>
  Math.max(1, laneCount * (VALUE_BYTES * outputCount + 1));

/** Bytes of one output over all rows. */
const historyBytes = (spec: CutSpec) => rowBytes(spec, 1) * (spec.end - spec.first);

/** When the last of these tasks ends, if each goes to the thread that is free first. */
function makespan(tasksNs: readonly number[], threadCount: number): number {
  const ends = new Float64Array(Math.min(threadCount, Math.max(1, tasksNs.length)));
  for (const ns of tasksNs) {
    let next = 0;
    for (let thread = 1; thread < ends.length; thread++) if (ends[thread]! < ends[next]!) next = thread;
    ends[next]! += ns;
  }
  return ends.reduce((most, ns) => Math.max(most, ns), 0);
}
