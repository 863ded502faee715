/** Named pipes of the kernel. Their ends can be opened by path, so that processes on both sides may be replaced. */
import { constants, openSync } from 'node:fs'
import koffi from 'koffi'

const mkfifo = koffi.load(null).func('int mkfifo(const char *path, uint32_t mode)')
const ownerOnly = 0o600

/** Creates a named pipe. Throws if the path exists. */
export function createNamedPipe(path: string): void {
  if (mkfifo(path, ownerOnly) !== 0) throw new Error(`mkfifo ${path}: errno ${koffi.errno()}`)
}

/**
 * Opens both ends of a pipe without waiting for another process. The caller closes the end that is not its own once the
 * other process has opened it: until then this copy keeps the pipe from ending.
 */
export function openNamedPipe(path: string): { readFd: number; writeFd: number } {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return { readFd, writeFd: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) }
}
