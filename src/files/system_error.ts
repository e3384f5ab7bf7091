/** Whether a call of the system has failed, such as one that finds the disk full; other errors are mistakes in code. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}
