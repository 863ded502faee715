/** A login shell on a terminal that a test plays itself. Tests only. */
import { type Duplex, duplexPair, Readable } from 'node:stream'
import {
  HostUnreachable,
  type ProcessEnd,
  type ProcessRequest,
  type RemoteProcess,
  type TerminalSize,
} from '@dock/control-plane/src/modules/hosts/index.ts'
import { newUuid } from '@dock/foundation'

export type PlayedShell = {
  /** The shell's end of the terminal. */
  shell: Duplex
  /** The sizes of the terminal, oldest first. */
  sizes: TerminalSize[]
  /** Ends the shell with an exit code, or with null as if the Dock stopped. */
  exit(code: number | null): void
}

/** True if the request is for a login shell on a terminal. */
export function isForShell({ argv, command, pty }: ProcessRequest): boolean {
  return argv === undefined && command === undefined && pty !== undefined
}

/** Creates the process that the control plane sees, and the test's end of it. */
export function playShell(size: TerminalSize): { process: RemoteProcess; played: PlayedShell } {
  const [stream, shell] = duplexPair()
  const { promise: exited, resolve, reject } = Promise.withResolvers<ProcessEnd>()
  exited.catch(() => undefined)
  const sizes = [size]
  shell.on('error', () => undefined)
  stream.once('close', () => {
    reject(new HostUnreachable('the process was left'))
    shell.destroy()
  })
  const exit = (exitCode: number | null): void => {
    resolve({ exitCode, signal: null })
    shell.end()
  }
  const process: RemoteProcess = {
    id: newUuid(),
    stdin: stream,
    stdout: stream,
    stderr: Readable.from([]),
    exited,
    closeStdout: () => undefined,
    resize: async (wanted) => void sizes.push(wanted),
    signal: async () => undefined,
    hangUp: () => void stream.destroy(),
  }
  return { process, played: { shell, sizes, exit } }
}
