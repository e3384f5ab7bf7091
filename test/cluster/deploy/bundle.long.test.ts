import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { unzipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { executorBundle } from "../../../src/cluster/deploy/bundle.ts";
import { bundledFiles } from "../../../src/cluster/deploy/bundle_files.ts";
import { BARS } from "../../cli/run_cli.ts";
import { fileFolder } from "../../support/file_folder.ts";

const folder = fileFolder();

/** Reads a panel with DuckDB and Arrow and knows all operators, as an executor does. */
const READER = "src/data/source/read_panel";

function unpack(bytes: Uint8Array, target: string): void {
  for (const [path, content] of Object.entries(unzipSync(bytes))) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), content);
  }
}

/** What a Node that has nothing but the bundle prints. */
function runAlone(program: string): string {
  const args = ["--input-type=module", "-e", program];
  return execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8", env: {} });
}

/** The bundle of the build, made by the build. */
function bundleOfBuild(target: string, cacheFolder: string): string {
  const built = pathToFileURL(join(import.meta.dirname, "../../../dist/src/cluster/deploy/bundle.js")).href;
  return runAlone(`import { writeFileSync } from "node:fs";
    import { executorBundle } from "${built}";
    const options = { entry: "${READER}", cacheFolder: "${cacheFolder}" };
    const { bytes, entry } = await executorBundle(options);
    writeFileSync("${target}", bytes);
    process.stdout.write(entry);`);
}

describe.each(["the sources", "the build"])("the bundle of %s", (origin) => {
  test("is all that Node needs to read panels and to know the operators", async () => {
    const target = join(folder, origin.replace(" ", "_"));
    const cacheFolder = join(folder, "cache");
    let entry: string;
    if (origin === "the sources") {
      const bundle = await executorBundle({ entry: READER, cacheFolder });
      expect(bundle.entry).toBe(`${READER}.ts`);
      ({ entry } = bundle);
      unpack(bundle.bytes, target);
    } else {
      entry = bundleOfBuild(`${target}.zip`, cacheFolder);
      expect(entry).toBe(`dist/${READER}.js`);
      unpack(readFileSync(`${target}.zip`), target);
    }
    writeFileSync(join(folder, "bars.csv"), BARS);
    const extension = entry.slice(-3);
    const root = pathToFileURL(join(target, entry, "../../../..")).href;
    const printed = runAlone(`import { readPanel } from "${root}/${READER}${extension}";
      import { builtInRegistry } from "${root}/operators/index${extension}";
      const { rowCount, laneCount } = await readPanel("bars.csv");
      console.log(JSON.stringify({ rowCount, laneCount, names: builtInRegistry.operators.map(({ name }) => name) }));`);
    const { rowCount, laneCount, names } = JSON.parse(printed);
    expect({ rowCount, laneCount }).toEqual({ rowCount: 3, laneCount: 2 });
    expect(names).toEqual(expect.arrayContaining(["rank", "ts_mean", "ema", "group_mean"]));
    // What only the command line, jobs or the compiler need stays behind, and so does what Node does not load.
    const files = readdirSync(target, { recursive: true }).map(String);
    expect(
      files.filter((file) => /src\/(cli|jobs|live)|^dist\/bench|chevrotain|\.d\.ts$|\.map$/.test(file)),
    ).toEqual([]);
  });
});

describe("bundles", () => {
  test("are kept, and made again if they are damaged", async () => {
    const cacheFolder = join(folder, "kept");
    const digestOf = async (entry: string, cache: string | null) =>
      (await executorBundle({ entry, cacheFolder: cache })).digest;
    const { digest, bytes } = await executorBundle({ entry: "src/errors", cacheFolder });
    expect(digest).toBe(createHash("sha256").update(bytes).digest("hex"));
    const names = readdirSync(cacheFolder);
    expect(names).toEqual([expect.stringMatching(new RegExp(`^[0-9a-f]{32}-${digest}\\.zip$`))]);

    const kept = join(cacheFolder, names[0]!);
    const written = statSync(kept, { bigint: true }).ctimeNs;
    expect(await digestOf("src/errors", cacheFolder)).toBe(digest);
    expect(statSync(kept, { bigint: true }).ctimeNs).toBe(written);
    writeFileSync(kept, "damaged");
    expect(await digestOf("src/errors", cacheFolder)).toBe(digest);
    expect(Buffer.compare(readFileSync(kept), bytes)).toBe(0);

    // Other files are another bundle; of many, the oldest one makes room.
    expect(await digestOf("src/data/source/read_panel", null)).not.toBe(digest);
    const others = ["src/compile", "src/data/time/time_text", "src/call_params", "src/plan/plan"];
    for (const entry of others) await digestOf(entry, cacheFolder);
    const left = readdirSync(cacheFolder);
    expect(left).toHaveLength(4);
    expect(left).not.toContain(names[0]);
    // Without a folder to keep it in, it is the same.
    expect(await digestOf("src/errors", null)).toBe(digest);
  });

  test("hold each package once, with those that it needs, and the library of this machine", () => {
    const { files } = bundledFiles(READER);
    const paths = files.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(files.filter(({ source }) => !existsSync(source))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([
        "package.json",
        "src/data/source/read_panel.ts",
        "operators/rolling/moments/ts_mean.ts",
        "node_modules/apache-arrow/package.json",
        "node_modules/flatbuffers/package.json",
        `node_modules/@duckdb/node-bindings-${process.platform}-${process.arch}/duckdb.node`,
      ]),
    );
    expect(paths.filter((path) => path.includes("@types/"))).toEqual([]);
  });
});
