/**
 * A value in 6 significant digits, or as many as asked for, without zeros at the end.
 *
 * @example numberText(1 / 3) // "0.333333"
 * @example numberText(1_824_755) // "1.82476e6"
 * @example numberText(null) // "null"
 */
export function numberText(value: number | null, digits = 6): string {
  if (value === null) return "null";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e") as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < digits) return String(Number(value.toPrecision(digits)));
  return `${Number(mantissa)}e${power}`;
}

/** Pads the texts of numbers so that their decimal points stand below each other, and other texts at the right edge. */
export function alignedNumbers(texts: readonly string[]): string[] {
  const wholeLength = (text: string) => /[.e]|$/.exec(text)!.index;
  const isNumber = (text: string) => /\d/.test(text);
  const numbers = texts.filter(isNumber);
  const decimals = Math.max(0, ...numbers.map((text) => text.length - wholeLength(text)));
  const padded = texts.map((text) => (isNumber(text) ? text.padEnd(wholeLength(text) + decimals) : text));
  const width = Math.max(0, ...padded.map((text) => text.length));
  return padded.map((text) => text.padStart(width));
}

/** A share in percent, e.g. `"66.7 %"` of 2 and 3. */
export const shareText = (count: number, of: number): string => `${((100 * count) / of).toFixed(1)} %`;
