/** Pipes whose reader has left, as `head` does. */

/** The exit code of a program that writes into such a pipe. */
export const brokenPipeExitCode = 141

export function isBrokenPipe(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException
  return code === 'EPIPE' && syscall === 'write'
}
