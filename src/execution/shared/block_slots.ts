/** Most blocks of one plan under way at a time; less than `BLOCK_SLOTS`. */
export const OVERLAPPING_BLOCKS_MAX = 3;

/**
 * What is shared of block `n` stands in slot `n mod BLOCK_SLOTS`. A power of two, since block numbers wrap around.
 */
export const BLOCK_SLOTS = 4;
export const BLOCK_SLOT_MASK = BLOCK_SLOTS - 1;
