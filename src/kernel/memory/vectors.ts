/** Bytes of a value. */
export const VALUE_BYTES = Float64Array.BYTES_PER_ELEMENT;

/** Bytes of a SIMD vector: two values. */
export const VECTOR_BYTES = 2 * VALUE_BYTES;

/** Vectors that kernels process side by side. */
export const VECTORS = 4;

/** Lanes of one turn of a kernel's loop, and the bytes of their values. */
export const STEP_LANES = 2 * VECTORS;
export const STEP_BYTES = STEP_LANES * VALUE_BYTES;
