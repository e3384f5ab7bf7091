/** Bytes of a SIMD vector: two doubles. */
export const VECTOR_BYTES = 16;

/** Vectors that kernels process side by side. */
export const VECTORS = 4;

/** Lanes of one turn of a kernel's loop. */
export const STEP_LANES = 2 * VECTORS;
