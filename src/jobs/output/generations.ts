/**
 * Generations of a sink of files: each is a whole set of results in `.NAME/N`, beside the sink `NAME`, which is a link to
 * the current one. A reader that resolves the link once and then lists the folder sees one generation.
 */
import { constants } from "node:fs";
import { copyFile, link, lstat, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeDurableFolder, syncFile, syncFolder } from "../../files/durable.ts";
import { noLinks } from "../errors.ts";

/** A reader that has resolved the link may still read for so long. */
const READER_MS = 3_600_000;

export class Generations {
  readonly #sink: string;
  /** Holds the generations. */
  readonly #folder: string;

  /** @param sink the path that readers know */
  constructor(sink: string) {
    this.#sink = sink;
    this.#folder = join(dirname(sink), `.${basename(sink)}`);
  }

  folderOf(generation: number): string {
    return join(this.#folder, String(generation));
  }

  /**
   * Makes the sink a link: to a new generation, or, where it is a folder, to that folder, which becomes the generation. May be
   * called again after a crash, and changes nothing where the sink is a link.
   *
   * @throws UsageError E536 where the file system has no symbolic links
   */
  async begin(generation: number): Promise<void> {
    const status = await lstat(this.#sink).catch(() => null);
    if (status?.isSymbolicLink()) return;
    await makeDurableFolder(this.#folder);
    const target = this.folderOf(generation);
    if (status?.isDirectory()) {
      // A link that cannot be made must leave the folder where it is.
      await this.#makeLink(generation);
      // A folder in the place of the link has taken the place of the generation, too.
      await this.discard(generation);
      await rename(this.#sink, target);
      await syncFolder(this.#folder);
    } else await makeDurableFolder(target);
    await this.switchTo(generation);
  }

  /** Shows readers a generation. */
  async switchTo(generation: number): Promise<void> {
    const made = await this.#makeLink(generation);
    await rename(made, this.#sink);
    await syncFolder(dirname(this.#sink));
  }

  /** The generation that readers see; null if the sink is no link to one. */
  async shown(): Promise<number | null> {
    const target = await readlink(this.#sink).catch(() => null);
    const number = target === null ? Number.NaN : Number(basename(target));
    return Number.isInteger(number) && dirname(target!) === basename(this.#folder) ? number : null;
  }

  /** Adds a file of one generation to another: as a second name of it, else as a copy. @returns the bytes that were copied */
  async keep(name: string, from: number, to: number): Promise<number> {
    const [source, target] = [join(this.folderOf(from), name), join(this.folderOf(to), name)];
    await makeDurableFolder(dirname(target));
    try {
      await link(source, target);
      return 0;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST" || code === "ENOENT") throw error;
    }
    await copyFile(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await syncFile(target);
    return (await stat(target)).size;
  }

  /** Removes a generation that was not finished. */
  async discard(generation: number): Promise<void> {
    await rm(this.folderOf(generation), { recursive: true, force: true });
  }

  /** Removes generations that no reader can need: those that were replaced an hour before `nowMs`. */
  async removeOld(current: number, nowMs: number): Promise<void> {
    // Readers may have resolved an older one until the current one was shown.
    const shownMs = (await lstat(this.#sink)).mtimeMs;
    if (nowMs - shownMs < READER_MS) return;
    for (const name of await readdir(this.#folder))
      if (/^\d+$/.test(name) && Number(name) < current) await this.discard(Number(name));
  }

  /** A link beside the generations, which a rename puts in place. */
  async #makeLink(generation: number): Promise<string> {
    const path = join(this.#folder, "link");
    await rm(path, { force: true });
    try {
      await symlink(join(basename(this.#folder), String(generation)), path);
    } catch (error) {
      throw noLinks(this.#sink, error);
    }
    return path;
  }
}
