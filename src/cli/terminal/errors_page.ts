import { readFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/** What docs/errors.md says of a code. */
export interface ErrorSection {
  readonly code: string;
  readonly title: string;
  /** The class that is thrown and the exit code of the command line. */
  readonly thrown: string;
  readonly meaning: string;
  readonly remedy: string;
  /** In Markdown: blocks, or a sentence that begins with "For example:". */
  readonly examples: string;
  /** Codes of earlier versions that are this one now. */
  readonly former: readonly string[];
}

const SECTION =
  /^(?<code>\w+)\n\n\*\*(?<title>.+?)\*\* \((?<thrown>.+?)\)\.\s(?<meaning>[\s\S]+?)\n\n(?<remedy>(?:.+\n)+)\n(?<examples>(?:```|For example:)[\s\S]+)$/;

/** The sections of the page of errors, which lies in the package beside its code. */
export async function errorSections(): Promise<ErrorSection[]> {
  const page = await readFile(join(dirname(findPackageJSON(import.meta.url)!), "docs/errors.md"), "utf8");
  return page
    .split(/^## .*$/m)
    .flatMap((chapter) => chapter.split(/^### /m).slice(1))
    .map(sectionOf);
}

function sectionOf(text: string): ErrorSection {
  const parts = SECTION.exec(text)!.groups as unknown as Omit<ErrorSection, "former">;
  const [examples, former = ""] = parts.examples.split(/^Formerly /m) as [string, string?];
  return {
    ...parts,
    meaning: unwrapped(parts.meaning),
    remedy: unwrapped(parts.remedy),
    examples: examples.trimEnd(),
    former: former.match(/\w\d{3}/g) ?? [],
  };
}

/** Paragraphs as single lines; items of a list keep lines of their own. */
function unwrapped(text: string): string {
  return text.trim().replaceAll(/\n+(?!- )\s*/g, " ");
}
