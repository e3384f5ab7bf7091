import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const root = `${import.meta.dirname}/../..`;
const SLOWEST = 30;

interface FileSeconds {
  /** Below `test`. */
  readonly file: string;
  readonly seconds: number;
}

/** The seconds of a run by folder, and those of its slowest files. */
export function secondsText(files: readonly FileSeconds[]): string {
  const line = ({ file, seconds }: FileSeconds) => `${seconds.toFixed(1).padStart(8)}  ${file}`;
  const slowestFirst = (some: readonly FileSeconds[]) => some.toSorted((a, b) => b.seconds - a.seconds);
  const folders = [...Map.groupBy(files, ({ file }) => file.split("/")[0]!)].map(([folder, own]) => ({
    file: `${folder} (${own.length})`,
    seconds: own.reduce((sum, { seconds }) => sum + seconds, 0),
  }));
  return [
    "seconds by folder (files)",
    ...slowestFirst(folders).map(line),
    `seconds of the slowest ${Math.min(SLOWEST, files.length)} files`,
    ...slowestFirst(files).slice(0, SLOWEST).map(line),
  ].join("\n");
}

/** Says at the end of a run where its time went: files run side by side, so their seconds sum to more than the run's. */
class Seconds implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => {
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      return {
        file: relative(root, module.moduleId),
        seconds: (collectDuration + setupDuration + duration) / 1000,
      };
    });
    if (files.length > 1) console.log(`\n${secondsText(files)}\n`);
  }
}

// Vitest takes a reporter by the default export of its module.
// biome-ignore lint/style/noDefaultExport: see above
export default Seconds;
