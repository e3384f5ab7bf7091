import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { Operator } from "../../src/operator/definition.ts";
import { operatorDigest } from "../../src/operator/operator_digest.ts";
import { fileFolder } from "../support/file_folder.ts";

const folder = fileFolder();

const FILES = {
  "operator.ts": `import type { Half } from "./types.ts"\nimport { half } from "./lib/half.ts?v=1";\nexport * from "./names.mjs";\nimport "vitest";`,
  "lib/half.ts": `import data from "../table.json" with { type: "json" };\nexport const half = data[0];`,
  "names.mjs": `export const later = () => import("./later.mjs");`,
  "later.mjs": `const { one } = require("./plain");`,
  "plain.js": "exports.one = 1;",
  "table.json": "[0.5]",
  "beside.ts": "export const unused = 1;",
  "types.ts": "export type Half = 0.5;",
};

/** The digest of an operator whose module and what it imports are these, in a folder of its own. */
async function digestOf(files: Readonly<Record<string, string>>): Promise<string> {
  const place = await mkdtemp(join(folder, "case-"));
  await mkdir(join(place, "lib"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(place, name), text);
  return operatorDigest(operator({ module: pathToFileURL(join(place, "operator.ts")).href }));
}

function operator(changed: object = {}): Operator {
  const made = { name: "acc", axis: "recursive", limit: 1, reference: (x: number) => x + 1 };
  return { ...made, ...changed } as unknown as Operator;
}

describe("the digest of an operator", () => {
  test("is that of its facts and of its functions' text", () => {
    const same = operatorDigest(operator());
    expect(operatorDigest(operator())).toBe(same);
    const explained = operator({ nullWhere: { domain: (x: number) => x < 0 } });
    expect(operatorDigest(explained), "causes of null change no result").toBe(same);
    const others = [
      operator({ reference: (x: number) => x + 2 }),
      operator({ lower: () => null }),
      operator({ limit: 2 }),
      operator({ limit: Number.POSITIVE_INFINITY }),
      operator({ limit: Number.NEGATIVE_INFINITY }),
      operator({ limit: 0 }),
      operator({ limit: -0 }),
    ];
    expect(new Set([same, ...others.map(operatorDigest)]).size).toBe(others.length + 1);
  });

  test("changes with each file that its module leads to, and with no other", async () => {
    const same = await digestOf(FILES);
    expect(await digestOf(FILES), "in another folder").toBe(same);
    for (const [name, text] of Object.entries(FILES)) {
      const changed = await digestOf({ ...FILES, [name]: text.endsWith("]") ? "[0.25]" : `${text}\n` });
      if (name === "beside.ts" || name === "types.ts") expect(changed, name).toBe(same);
      else expect(changed, name).not.toBe(same);
    }
  });
});
