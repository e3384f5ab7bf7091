/** What the page of `explain` shows, as plain data. Indices refer to `boxes` and `factors`. */
export interface ExplainData {
  readonly file: string;
  readonly dialect: string;
  /** The formula file: spans are offsets into it. */
  readonly source: string;
  readonly writtenOperations: number;
  readonly tasks: number;
  readonly nodes: number;
  readonly pathNodes: readonly string[];
  readonly pathNs: number;
  /** Bytes of all columns for each instrument, in blocks of `blockRows` rows. */
  readonly bytes: number;
  readonly blockRows: number;
  readonly boxes: readonly Box[];
  readonly factors: readonly FactorData[];
  readonly shared: readonly SharedBox[];
  readonly stages: readonly StageData[];
}

/** One operation as it is written; what a name of the dialect stands for is one box. */
export interface Box {
  /** With a circled number for each operand that is a box of its own. */
  readonly label: string;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
  readonly axis: Axis;
  readonly costNs: number;
  /** Whether an operator of it has no code. */
  readonly isByReference: boolean;
  /** In the order of the formula. */
  readonly operands: readonly number[];
  /** The factors that need it. */
  readonly factors: readonly number[];
}

export type Axis = "column" | "elementwise" | "rolling" | "recursive" | "cross_section" | "group";

export interface FactorData {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly root: number;
  /** Its boxes, the root first, operands in order. */
  readonly boxes: readonly number[];
  /** From the root down: the chain of operands that costs most. */
  readonly path: readonly number[];
  /** Null: without end. */
  readonly lookbackRows: number | null;
  readonly when: string;
  readonly priority: number;
  readonly costNs: number;
  /** What its boxes cost that other factors need, too. */
  readonly sharedNs: number;
  readonly bytes: number;
  /** Null for a graph that is too large to be read as a picture. */
  readonly drawing: Drawing | null;
}

/** Places in a drawing, in CSS pixels. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** By the order of the factor's boxes: centre and size. */
  readonly places: readonly (readonly [x: number, y: number, width: number, height: number])[];
  readonly edges: readonly DrawnEdge[];
}

export interface DrawnEdge {
  readonly from: number;
  readonly to: number;
  /** Circled numbers of the operand. */
  readonly label: string;
  readonly labelAt: readonly [x: number, y: number];
  /** An SVG path. */
  readonly path: string;
}

/** A sub-expression that several factors need. */
export interface SharedBox {
  readonly box: number;
  /** Of it and everything below it, once. */
  readonly costNs: number;
  /** What it would cost more if each factor computed it for itself. */
  readonly savedNs: number;
}

export interface StageData {
  readonly name: string;
  readonly tasks: number;
  /** The graph for the first stage, then lines that went (`- `) and came (`+ `). */
  readonly lines: readonly string[];
}
