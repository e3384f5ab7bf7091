/** 1, 2, 4 ... below `most`, and `most` itself. */
export function threadCounts(most: number): number[] {
  const powers = Array.from({ length: 8 }, (_, power) => 2 ** power);
  return [...powers.filter((count) => count < most), most];
}
