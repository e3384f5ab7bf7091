/** What text that is not UTF-8 may be, for the message. */
import { isUtf8 } from "node:buffer";

/** Two bytes of GB2312, which GBK and GB18030 extend. */
const CHINESE = /[\x81-\xfe][\xa1-\xfe]/g;
const BEYOND_ASCII = /[\x80-\xff]/g;
/** No text has them, in any encoding of bytes. */
const NOT_TEXT = /[^\P{Cc}\s\x80-\x9f]/u;

/**
 * The name, as iconv has it, of the encoding that a line without its end is likely in; null for UTF-8, and for bytes that are
 * no text. Chinese characters have two bytes beyond ASCII side by side, accented letters one.
 */
export function otherEncoding(line: Uint8Array): string | null {
  const [first, second] = line;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return "UTF-16";
  if (line.length > 1 && line.every((byte, at) => (byte === 0) === (at % 2 === 1))) return "UTF-16LE";
  if (line.length > 1 && line.every((byte, at) => (byte === 0) === (at % 2 === 0))) return "UTF-16BE";
  const text = Buffer.from(line).toString("latin1");
  if (isUtf8(line) || NOT_TEXT.test(text)) return null;
  const pairs = text.match(CHINESE)?.length ?? 0;
  const single = text.replaceAll(CHINESE, "").match(BEYOND_ASCII)?.length ?? 0;
  return pairs >= single ? "GB18030" : "WINDOWS-1252";
}
