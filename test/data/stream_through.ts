/**
 * Run as a process: streams a file through blocks of 64 rows, writes two of its fields to a second file if one is
 * given, and prints what it saw and the memory that it took.
 */

import { openPanelSource } from "../../src/data/source/open_panel_source.ts";
import { openFactorWriter } from "../../src/data/write/factor_writer.ts";

const [input, output] = process.argv.slice(2) as [string, string | undefined];
const source = await openPanelSource(input, { memoryLimitBytes: 512 * 2 ** 20 });
const { time, symbols, fieldNames } = source;
const factors = fieldNames.slice(0, 2);
const writer = output === undefined ? null : await openFactorWriter(output, { time, symbols, factors });
let sum = 0;
let rowCount = 0;
for await (const block of source.blocks({ fields: fieldNames, groups: [], blockRows: 64 })) {
  rowCount += block.rowCount;
  for (const values of block.fields.values()) for (const value of values) sum += value;
  await writer?.append({ ...block, columns: block.fields });
}
await writer?.commit();
await source.close();
console.log(JSON.stringify({ peakMib: process.resourceUsage().maxRSS / 1024, sum, rowCount }));
