/** Shows a name and the progress of work on stderr if that is a terminal. */
export async function withSpinner<T>(
  name: string,
  work: (onProgress: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const { default: ora } = await import("ora");
  const isEnabled = process.stderr.isTTY === true && process.stderr.columns > 0;
  const spinner = ora({ stream: process.stderr, discardStdin: false, isEnabled });
  if (isEnabled) spinner.start(name);
  try {
    return await work((done, total) => {
      spinner.text = `${name}: ${Math.floor((100 * done) / total)} %`;
    });
  } finally {
    spinner.stop();
  }
}
