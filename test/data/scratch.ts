/** Short ways to put tables into the folder of a test file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { type Table, tableToIPC } from "apache-arrow";
import { fileFolder } from "../support/file_folder.ts";

/** The path of a file in the folder. */
export function scratchPath(name: string): string {
  return join(fileFolder(), name);
}

/** Writes text or bytes; gives the path. */
export function writeScratch(name: string, content: string | Uint8Array): string {
  writeFileSync(scratchPath(name), content);
  return scratchPath(name);
}

export function writeArrow(name: string, table: Table, format: "file" | "stream" = "file"): string {
  return writeScratch(name, tableToIPC(table, format));
}

/** Writes the result of a query as Parquet. */
export async function writeParquet(name: string, query: string, options = ""): Promise<string> {
  await runSql(`COPY (${query}) TO '${scratchPath(name).replaceAll("'", "''")}' (FORMAT parquet${options})`);
  return scratchPath(name);
}

export async function runSql(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    return (await connection.runAndReadAll(sql)).getRowsJS();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** The message with which the work fails, without the folder's name. */
export async function messageOf(work: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    const { name, message } = error as Error;
    const folder = fileFolder();
    return `${name}: ${message.replaceAll(`${folder}/`, "").replaceAll(folder, "SCRATCH")}`;
  }
  return "no error";
}
