/** The files of a path that the user gave: a file, or all files of a folder. */
import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { reasonOf } from "../../text/reason.ts";
import { columnsDiffer, fileMissing, fileUnreadable, folderUnusable, noRows, quoted } from "../errors.ts";

/** Files that together are one table, row after row. */
export interface InputFiles {
  /** The path as the user gave it, for messages. */
  readonly file: string;
  /** Absolute; those of a folder in the order of their paths. */
  readonly paths: readonly string[];
}

const FOLDER_KINDS = [/\.parquet$/i, /\.(arrow|feather|ipc)$/i];

/**
 * Lists the file, or all files of a folder at any depth, except those under names that start with `.` or `_`.
 *
 * @throws DataError E301 if a file is missing, E304 if one is empty, E306 if kinds are mixed, E309 if one cannot be opened.
 */
export async function listInputFiles(file: string): Promise<InputFiles> {
  const path = resolve(file);
  const status = await statusOf(file, path);
  if (!status.isDirectory()) {
    checkIsFile(file, status);
    return { file, paths: [path] };
  }
  const paths = await filesBelow(file, path);
  const names = paths.map((each) => relative(path, each));
  const kindOf = (name: string) => FOLDER_KINDS.find((kind) => kind.test(name));
  const known = names.find((name) => kindOf(name) !== undefined);
  if (known === undefined) throw folderUnusable(file, "holds no .parquet, .arrow, .feather or .ipc file");
  const other = names.find((name) => kindOf(name) !== kindOf(known));
  if (other !== undefined) throw folderUnusable(file, `holds files of several kinds, ${known} and ${other}`);
  return { file, paths };
}

async function filesBelow(file: string, folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw fileUnreadable(file, reasonOf(error));
  });
  const visible = names.filter((name) => !/^[._]/.test(name));
  const found = await Promise.all(
    visible.map(async (name) => {
      const [shown, path] = [join(file, name), join(folder, name)];
      const status = await statusOf(shown, path);
      if (status.isDirectory()) return await filesBelow(shown, path);
      checkIsFile(shown, status);
      return [path];
    }),
  );
  return found.flat().sort();
}

async function statusOf(file: string, path: string): Promise<Stats> {
  return await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" || error.code === "ENOTDIR"
      ? fileMissing(file)
      : fileUnreadable(file, reasonOf(error));
  });
}

function checkIsFile(file: string, status: Stats): void {
  if (!status.isFile()) throw fileUnreadable(file, "it is not a file");
  if (status.size === 0) throw noRows(file);
}

/** One of the files as the user would give it. */
export function nameOfFile({ file }: InputFiles, path: string): string {
  const below = relative(resolve(file), path);
  return below === "" ? file : join(file, below);
}

export interface ColumnOfFile {
  readonly name: string;
  readonly typeName: string;
}

/** @throws DataError E306 that names the first file whose columns differ from those of the first file. */
export function checkSameColumns(
  files: InputFiles,
  columnsOfFiles: readonly (readonly ColumnOfFile[])[],
): void {
  const expected = columnsOfFiles[0]!;
  for (const [index, columns] of columnsOfFiles.entries()) {
    const difference = findDifference(columns, expected);
    if (difference === null) continue;
    const [file, first] = [nameOfFile(files, files.paths[index]!), nameOfFile(files, files.paths[0]!)];
    throw columnsDiffer(file, first, difference);
  }
}

function findDifference(columns: readonly ColumnOfFile[], expected: readonly ColumnOfFile[]): string | null {
  for (const [index, { name, typeName }] of expected.entries()) {
    const own = columns[index];
    if (own === undefined) return `${quoted(name)} is missing`;
    if (own.name !== name) return `${quoted(own.name)} stands where the other has ${quoted(name)}`;
    if (own.typeName !== typeName) return `${quoted(name)} is ${own.typeName}, in the other ${typeName}`;
  }
  const extra = columns[expected.length];
  return extra === undefined ? null : `${quoted(extra.name)} is one more`;
}

/** A function that describes the place of a row in several files; null for a single file. */
export function rowDescriber(
  files: InputFiles,
  countRows: () => Promise<readonly number[]>,
): ((rowNumber: number) => Promise<string>) | null {
  if (files.paths.length === 1) return null;
  return async (rowNumber) => {
    let row = rowNumber;
    let index = 0;
    for (const count of await countRows()) {
      if (row <= count) break;
      row -= count;
      index += 1;
    }
    const path = files.paths[index]!;
    return `row ${row} of ${relative(resolve(files.file), path)}`;
  };
}
