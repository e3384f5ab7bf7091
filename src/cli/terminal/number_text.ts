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

/**
 * A share in percent, rounded down as on pages: only the whole is 100 %, and only nothing is 0 %.
 *
 * @example shareText(2, 3) // "66.6 %"
 * @example shareText(1, 5000) // "< 0.1 %"
 */
export function shareText(part: number, whole: number): string {
  if (part > 0 && part < whole / 1000) return "< 0.1 %";
  return whole === 0 ? "" : `${(Math.floor((1000 * part) / whole) / 10).toFixed(1)} %`;
}
