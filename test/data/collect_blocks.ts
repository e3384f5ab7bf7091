/** A source's blocks put together into a panel, each copied while it is valid. */
import type { BlockRequest, PanelSource } from "../../src/data/panel/panel_source.ts";
import type { GroupColumn, Panel } from "../../src/panel.ts";

export async function collectBlocks(
  source: PanelSource,
  blockRows: number,
  request: Partial<BlockRequest> = {},
): Promise<Panel> {
  const { fieldNames, groupNames, laneCount, symbols, time, seriesNames, groupReasons } = source;
  const times: bigint[] = [];
  const present: Uint8Array[] = [];
  const fields = new Map<string, Float64Array[]>();
  const codes = new Map<string, Int32Array[]>();
  const groups = new Map<string, GroupColumn>();
  for await (const block of source.blocks({
    fields: fieldNames,
    groups: groupNames,
    blockRows,
    ...request,
  })) {
    if (block.times.length !== block.rowCount || block.rowCount > blockRows) throw new Error("a wrong block");
    times.push(...block.times);
    present.push(block.present.slice());
    for (const [name, values] of block.fields)
      fields.set(name, [...(fields.get(name) ?? []), values.slice()]);
    for (const [name, group] of block.groups) {
      const isFirst = !groups.has(name);
      groups.set(name, group);
      if (isFirst) codes.set(name, [group.codes.slice()]);
      else if (group.changesOverTime) codes.get(name)!.push(group.codes.slice());
    }
  }
  return {
    rowCount: times.length,
    laneCount,
    symbols,
    seriesNames,
    groupReasons,
    time: { ...time, values: BigInt64Array.from(times) },
    fields: new Map([...fields].map(([name, parts]) => [name, new Float64Array(joined(parts))])),
    groups: new Map(
      [...groups].map(([name, group]) => [
        name,
        { ...group, codes: new Int32Array(joined(codes.get(name)!)) },
      ]),
    ),
    present: new Uint8Array(joined(present)),
  };
}

function joined(parts: readonly (Float64Array | Int32Array | Uint8Array)[]): SharedArrayBuffer {
  const bytes = new Uint8Array(
    new SharedArrayBuffer(parts.reduce((sum, { byteLength }) => sum + byteLength, 0)),
  );
  let position = 0;
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), position);
    position += byteLength;
  }
  return bytes.buffer;
}
