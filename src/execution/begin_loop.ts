/**
 * Runs a loop that never goes back to the event loop, and then ends the thread. The task that began it is done before:
 * Piscina keeps the process for as long as a task runs.
 */
export function beginLoop(loop: () => void): void {
  setImmediate(() => {
    loop();
    process.exit();
  });
}
