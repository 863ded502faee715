/**
 * A process of the fake host: a program of this machine, run as this process's user. Its home and work folder is a
 * temporary folder, which is removed when the tests end. Absolute paths are those of this machine.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { finished, type Readable, Readable as ReadableStream } from 'node:stream'
import {
  HostRefused,
  HostUnreachable,
  type ProcessEnd,
  type ProcessRequest,
  type RemoteProcess,
} from '@dock/control-plane/src/modules/hosts/index.ts'
import { ExecRefused } from '@dock/runtime'
import { runFolder } from '../run-folder.ts'
import { openLocalProcess } from '../runtime/local-process.ts'
import { confinedTo, rootOf } from './confined-program.ts'

/** Stands for the temporary folder in requests. */
const dockHome = '/home/user'

let made: string | undefined

/** The folder in which processes of the fake host begin, and their HOME. */
export function fakeProcessFolder(): string {
  if (made === undefined) {
    const folder = mkdtempSync(join(runFolder(), 'dock-processes-'))
    made = folder
    process.once('exit', () => {
      for (const each of [folder, rootOf(folder)]) rmSync(each, { recursive: true, force: true })
    })
  }
  return made
}

const isFinished = (stream: Readable): Promise<void> =>
  new Promise((resolve) => void finished(stream, () => resolve()))

/**
 * Starts the program. Throws HostRefused `exec_refused` if it or its folder does not exist. A confined program can change
 * nothing outside {@link fakeProcessFolder}, whatever its arguments are.
 */
export async function openFakeProcess(
  id: string,
  request: ProcessRequest,
  isConfined = false,
): Promise<RemoteProcess> {
  const folder = fakeProcessFolder()
  const { command, argv, env = {}, pty, waitsForOutputs = false } = request
  const cwd = request.cwd === undefined || request.cwd === dockHome ? folder : request.cwd
  const wanted = argv ?? (command === undefined ? ['/bin/bash', '-l'] : ['/bin/bash', '-lc', command])
  const local = await openLocalProcess(
    {
      argv: isConfined ? confinedTo(folder, cwd, wanted) : wanted,
      env: { HOME: folder, USER: 'user', SHELL: '/bin/bash', PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
      cwd: isConfined ? folder : cwd,
      ...(pty ? { pty } : {}),
      waitsForOutputs,
    },
    id,
  ).catch((error: unknown) => {
    throw error instanceof ExecRefused ? new HostRefused('exec_refused', error.message) : error
  })
  const stdout = local.stdout!
  const stderr = local.stderr ?? ReadableStream.from([])
  const left = Promise.withResolvers<never>()
  let isOver = false
  const ended = local.exited.then(async (end): Promise<ProcessEnd> => {
    await Promise.all([isFinished(stdout), isFinished(stderr)])
    isOver = true
    return { exitCode: end.exitCode, signal: end.signal }
  })
  const exited = Promise.race([ended, left.promise])
  exited.catch(() => undefined)
  return {
    ...{ id, stdin: local.stdin!, stdout, stderr, exited },
    closeStdout: () => void stdout.destroy(),
    resize: async ({ cols, rows }) => local.resize(cols, rows),
    signal: (name) => local.signal(name, 'group'),
    hangUp: () => {
      if (isOver) return
      left.reject(new HostUnreachable('the process was left'))
      void local.signal('HUP', 'attached').then(() => {
        for (const stream of [local.stdin!, stdout, stderr]) stream.destroy()
      })
    },
  }
}
