/**
 * Starts a loop that never returns to the event loop, and ends the thread afterwards. The task that starts it is done
 * before: Piscina keeps the process alive while a task runs.
 */
export function beginLoop(loop: () => void): void {
  setImmediate(() => {
    loop();
    process.exit();
  });
}
