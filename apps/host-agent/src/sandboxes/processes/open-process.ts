/** A process of a Dock with streams: a program of its user that ends when it wants, or when its sandbox ends. */
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import {
  attachedProcessesMax,
  type OpenProcess as OpenProcessRequest,
  type ProcessEnd,
  type SignalName,
  type TerminalSize,
} from '@dock/host-protocol'
import {
  ExecRefused,
  type OpenProcess,
  type ProcessRequest,
  type SandboxHandle,
  StreamsLost,
} from '@dock/runtime'
import { AgentRefusal } from '../agent-refusal.ts'
import type { DockState, SandboxUse } from '../dock-state.ts'
import { dockUser, environmentWith, inLoginBash, startFolders } from '../login-shell.ts'
import { formatOutOfMemory } from '../out-of-memory.ts'

/** `streamsLost`: the program was ended because its streams were lost. */
export type DockProcessEnd = ProcessEnd & { streamsLost?: true }

export type DockProcess = {
  opened: OpenProcess
  /**
   * Resolves when the program has ended, and its outputs too if it waits for them, with nulls if the Dock ended first.
   * Never rejects.
   */
  ended: Promise<DockProcessEnd>
  /** Returns the line that the owner must read after the output: that processes were killed for memory. Otherwise null. */
  lastLine(end: ProcessEnd): string | null
  /** Sends HUP to the program and to what holds its streams, and gives them up. Call it if its connection broke. */
  hangUp(): Promise<void>
}

/** As in the driver's request. A process that waits for its outputs counts as attached until they have ended. */
export type ProcessOptions = Pick<ProcessRequest, 'descriptors' | 'waitsForOutputs'>

const unknownEnd: ProcessEnd = { exitCode: null, signal: null }

/**
 * Starts a process, during which the Dock stays awake. Throws `busy` at {@link attachedProcessesMax}.
 */
export async function openProcess(
  dock: DockState,
  processId: string,
  request: OpenProcessRequest,
  options: ProcessOptions = {},
): Promise<DockProcess> {
  const { processes } = dock
  const { driver } = dock.parts
  if (processes.has(processId)) throw new AgentRefusal('busy', 'this process is already open')
  if (processes.size >= attachedProcessesMax)
    throw new AgentRefusal('busy', `${attachedProcessesMax} processes run; wait until one has ended`)
  processes.set(processId, null)
  let use: SandboxUse | undefined
  const close = (): void => {
    processes.delete(processId)
    use?.release()
  }
  try {
    use = await dock.use(request.generation)
    const { sandbox } = use
    const opened = await openInFolder(dock, sandbox, request, options)
    const isTerminal = isLoginShell(request) && request.pty !== undefined
    processes.set(processId, { sandbox, opened, isTerminal })
    const ended = opened.exited
      .then(
        async ({ killedForMemory, ...end }): Promise<DockProcessEnd> => {
          // A stop hangs up the shell itself, so its code would tell the person nothing.
          if (isTerminal && dock.live !== sandbox) return unknownEnd
          if (options.waitsForOutputs) await Promise.all([isOver(opened.stdout), isOver(opened.stderr)])
          return { ...end, ...(killedForMemory && { killedForMemory: [...killedForMemory] }) }
        },
        (error: unknown): DockProcessEnd =>
          error instanceof StreamsLost ? { ...unknownEnd, streamsLost: true } : unknownEnd,
      )
      .finally(close)
    return {
      opened,
      ended,
      lastLine: ({ killedForMemory = [] }) =>
        killedForMemory.length > 0
          ? formatOutOfMemory(killedForMemory, dock.record?.spec?.memoryMiB ?? 0)
          : null,
      hangUp: async () => {
        await driver.signalProcess(sandbox, opened.reference, 'HUP', 'attached').catch((error: unknown) => {
          dock.logger.warn({ err: error, processId }, 'could not hang up a process')
        })
        for (const stream of [opened.stdin, opened.stdout, opened.stderr]) stream?.destroy()
        close()
      },
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Resolves when the output has ended or was closed. */
const isOver = async (output: Readable | null): Promise<void> => {
  if (output) await finished(output).catch(() => undefined)
}

/** Resizes the terminal of a process. Does nothing if it has ended, is being started, or has no terminal. */
export function resizeProcess(dock: DockState, processId: string, { cols, rows }: TerminalSize): void {
  dock.processes.get(processId)?.opened.resize(cols, rows)
}

/**
 * Hangs up the shells of people: a shell at its prompt ends on a hang-up, but ignores SIGTERM. Returns when they are told,
 * and does not wait for their ends.
 */
export async function hangUpTerminals({ processes, parts, logger }: DockState): Promise<void> {
  const shells = [...processes.values()].filter((each) => each?.isTerminal)
  await Promise.all(
    shells.map((each) =>
      parts.driver
        .signalProcess(each!.sandbox, each!.opened.reference, 'HUP', 'attached')
        .catch((error: unknown) => logger.warn({ err: error }, 'could not hang up a terminal')),
    ),
  )
}

/** Signals the process group of a process. Does nothing if it has ended or is being started. */
export async function signalProcess(dock: DockState, processId: string, signal: SignalName): Promise<void> {
  const found = dock.processes.get(processId)
  if (found) await dock.parts.driver.signalProcess(found.sandbox, found.opened.reference, signal, 'group')
}

const isLoginShell = ({ command, argv }: OpenProcessRequest): boolean =>
  command === undefined && argv === undefined

/** Without a folder in the request, the process begins in the work folder, or in the next one if the user removed it. */
const openInFolder = async (
  dock: DockState,
  sandbox: SandboxHandle,
  { command, argv, env, cwd, pty }: OpenProcessRequest,
  options: ProcessOptions,
): Promise<OpenProcess> => {
  const terminal = pty ? { TERM: 'xterm-256color', COLORTERM: 'truecolor' } : {}
  const shell = command === undefined ? { argv: ['/bin/bash', '-l'] } : inLoginBash(command)
  let refusal: unknown
  for (const folder of cwd === undefined ? startFolders : [cwd]) {
    const request: ProcessRequest = {
      ...(argv ? { argv } : shell),
      env: environmentWith({ ...terminal, ...env }),
      ...{ cwd: folder, uid: dockUser.uid, gid: dockUser.gid },
      ...(pty ? { pty } : {}),
      ...options,
    }
    try {
      return await dock.parts.driver.openProcess(sandbox, request)
    } catch (error) {
      if (!(error instanceof ExecRefused)) throw error
      refusal = error
    }
  }
  throw refusal
}
