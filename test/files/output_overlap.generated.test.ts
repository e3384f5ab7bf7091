import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { expect, test } from "vitest";
import { checkOutputSpares } from "../../src/files/output_overlap.ts";
import { pendingFile } from "../../src/files/pending_file.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

const random = new Seeded();
const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!;

/** Folders and files of one trial; inputs are the file bars.csv, a table of groups, and the folder bars. */
function makeTree(root: string) {
  const at = (...names: string[]) => join(root, ...names);
  for (const folder of ["real/deep", "bars/2024/01", "other", "outside"])
    mkdirSync(at(folder), { recursive: true });
  const files = [
    "real/bars.csv",
    "real/groups.csv",
    "bars/a.parquet",
    "bars/2024/01/b.parquet",
    "outside/c.parquet",
  ];
  for (const file of files) writeFileSync(at(file), `content of ${file}`);
  // A folder of inputs may hold links: what they lead to is read.
  symlinkSync(at("outside/c.parquet"), at("bars/c.parquet"));
  symlinkSync(at("outside"), at("bars/2024/more"));
  return {
    at,
    files: files.map((file) => at(file)),
    folders: ["real", "bars", "bars/2024", "bars/2024/01", "outside"],
  };
}

/** The same place by another path: through links to folders, through `..`, from the working directory. */
function alias(path: string, at: (...names: string[]) => string, count: number): string {
  const name = basename(path);
  const folder = path.slice(0, -name.length - 1);
  const byLink = () => {
    const link = at("other", `link${count}`);
    symlinkSync(pick([folder, relative(at("other"), folder) || "."]), link);
    return join(link, name);
  };
  return pick([
    () => path,
    byLink,
    () => `${at("other")}/../${relative(at(), path)}`,
    () => `./${relative(process.cwd(), path)}`,
    () => `${folder}/./${name}`,
    () => {
      const link = at("other", `file${count}${/\.\w+$/.exec(name)?.[0] ?? ""}`);
      symlinkSync(path, link); // may lead to a file that is not there yet
      return link;
    },
  ])();
}

function snapshot(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) Object.assign(found, snapshot(path));
    else if (entry.isFile()) found[path] = readFileSync(path, "utf8");
  }
  return found;
}

/** Writes as `eval` does. */
async function write(path: string): Promise<void> {
  const file = await pendingFile(path);
  writeFileSync(file.temporaryPath, "factors");
  await file.commit();
}

test("no output replaces or joins an input, whatever path leads there; others are written", async () => {
  const counts = { refused: 0, written: 0 };
  for (let trial = 0; trial < trials(150, 3000); trial += 1) {
    const root = mkdtempSync(join(tmpdir(), "factorloom-overlap-"));
    const { at, files, folders } = makeTree(root);
    const cases: Readonly<Record<string, () => { path: string; isHarmful: boolean }>> = {
      file: () => ({ path: alias(pick(files), at, trial), isHarmful: true }),
      "hard link": () => {
        const link = at("other", "hard.parquet");
        linkSync(pick(files), link);
        return { path: alias(link, at, trial), isHarmful: true };
      },
      "new file among inputs": () => {
        const folder = pick(folders.slice(1));
        return { path: alias(at(folder, "new.parquet"), at, trial), isHarmful: true };
      },
      "new folder among inputs": () => ({
        path: `${at("bars", pick(["new", "new/deeper", "2024/more/x"]))}/`,
        isHarmful: true,
      }),
      "folder that holds inputs": () => ({
        path: `${alias(at(pick(["real", "bars"])), at, trial)}/`,
        isHarmful: true,
      }),
      "file beside inputs": () => ({
        path: alias(at("real", pick(["factors.csv", "deep/f.parquet"])), at, trial),
        isHarmful: false,
      }),
      "file elsewhere": () => ({ path: alias(at("other", "factors.csv"), at, trial), isHarmful: false }),
      "copy of an input": () => {
        const copy = at("other", "copy.csv");
        writeFileSync(copy, readFileSync(pick(files)));
        return { path: alias(copy, at, trial), isHarmful: false };
      },
      "new folder elsewhere": () => ({
        path: `${at("other", pick(["new", "barsX", "a/b"]))}/`,
        isHarmful: false,
      }),
    };
    const kind = pick(Object.keys(cases));
    const { path, isHarmful } = cases[kind]!();
    const before = snapshot(root);
    const inputs = [
      at("real/bars.csv"),
      at("real/groups.csv"),
      alias(at("bars"), at, trial + 1e6),
      undefined,
      at("none.csv"),
    ];
    const say = `seed ${random.seed}, trial ${trial}: ${kind}, ${path}`;
    const refused = await checkOutputSpares("--out", path, inputs).then(
      () => null,
      (error: { code?: string }) => error.code ?? String(error),
    );
    expect(refused, say).toBe(isHarmful ? "E514" : null);
    if (refused !== null) counts.refused += 1;
    else {
      counts.written += 1;
      if (!path.endsWith("/")) await write(path);
    }
    const after = snapshot(root);
    for (const file of files) expect(after[file], say).toBe(before[file]);
    expect(
      Object.keys(after).filter((file) => file.startsWith(at("bars"))),
      say,
    ).toEqual(Object.keys(before).filter((file) => file.startsWith(at("bars"))));
    rmSync(root, { recursive: true });
  }
  expect(Math.min(counts.refused, counts.written), `seed ${random.seed}`).toBeGreaterThan(20);
});

test("an input behind a link and .. is spared, whether the system or the text of the path says where it is", async () => {
  const root = mkdtempSync(join(tmpdir(), "factorloom-overlap-"));
  mkdirSync(join(root, "real/deep"), { recursive: true });
  symlinkSync(join(root, "real/deep"), join(root, "link"));
  const input = `${root}/link/../a.factors`;
  for (const file of [join(root, "real/a.factors"), join(root, "a.factors")]) {
    writeFileSync(file, "a = close");
    await expect(checkOutputSpares("--trace", file, [input]), file).rejects.toThrow(/^E514/);
  }
  await checkOutputSpares("--trace", join(root, "real/deep/a.factors"), [input]);
  rmSync(root, { recursive: true });
});
