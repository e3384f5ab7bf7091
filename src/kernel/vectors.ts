/** Bytes of a SIMD vector: two doubles. */
export const VECTOR_BYTES = 16;

/** Vectors that kernels work on side by side. */
export const VECTORS = 4;

/** Lanes that one turn of a kernel's loop works on. */
export const STEP_LANES = 2 * VECTORS;
