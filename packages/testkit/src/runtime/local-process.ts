/** Runs real programs of this machine with the streams of an attached process. Tests only. */
import { execFile, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import {
  ExecRefused,
  type OpenProcess,
  type ProcessEnd,
  type ProcessRequest,
  processEndOf,
  type SignalName,
} from '@dock/runtime'
import { ProcessOutput } from '@dock/runtime-gvisor/src/process-output.ts'
import { ptyProgram, resizeProgram } from '@dock/runtime-gvisor/src/pty-program.ts'
import { openPipe } from '@dock/runtime-gvisor/src/system-calls.ts'

const run = promisify(execFile)

export type LocalProcess = OpenProcess & {
  /** Signals the process group of the program; with a pseudo-terminal, that of the program on it. */
  signal(name: SignalName): Promise<void>
}

/** Starts the program as this process's user. Throws ExecRefused if the program or the folder does not exist. */
export async function openLocalProcess(
  request: Omit<ProcessRequest, 'uid' | 'gid' | 'onStarted'>,
  mark: string,
): Promise<LocalProcess> {
  const { pty, cwd, descriptors } = request
  const { argv, env } = pty ? ptyProgram(request.argv, request.env, pty) : request
  const streams = descriptors ? null : openStreams(pty !== undefined)
  const child = spawn(argv[0]!, argv.slice(1), {
    ...{ cwd, env, detached: true },
    stdio: [...(descriptors ?? streams!.descriptors)],
  })
  streams?.closeOurs()
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      streams?.stdout.endAfterContent()
      streams?.stderr?.endAfterContent()
      streams?.stdin.destroy()
      if (signal) resolve({ exitCode: null, signal: signal.replace('SIG', '') })
      else resolve(pty ? processEndOf(code!) : { exitCode: code, signal: null })
    })
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) => {
      streams?.stdin.destroy()
      streams?.stdout.destroy()
      streams?.stderr?.destroy()
      reject(new ExecRefused(error.message))
    })
  })
  const pid = child.pid!
  return {
    reference: { pid, mark, ...(pty ? { pty: true } : {}) },
    stdin: streams?.stdin ?? null,
    stdout: streams?.stdout ?? null,
    stderr: streams?.stderr ?? null,
    exited,
    resize: (cols, rows) => {
      if (pty)
        execFile('/bin/bash', ['-c', resizeProgram, 'resize', `${pid}`, `${cols}`, `${rows}`], () => {})
    },
    signal: async (name) => {
      const group = pty ? await childOf(pid) : pid
      try {
        if (group !== undefined) process.kill(-group, `SIG${name}`)
      } catch {
        // It has ended.
      }
    },
  }
}

const childOf = (pid: number): Promise<number | undefined> =>
  run('/usr/bin/pgrep', ['--oldest', '--parent', String(pid)]).then(
    ({ stdout }) => Number(stdout),
    () => undefined,
  )

const openStreams = (isTerminal: boolean) => {
  const { readFd, writeFd } = openPipe()
  const stdin = new Socket({ fd: writeFd, readable: false, writable: true })
  stdin.on('error', () => undefined)
  const stdout = new ProcessOutput()
  const stderr = isTerminal ? null : new ProcessOutput()
  return {
    ...{ stdin, stdout, stderr },
    descriptors: [readFd, stdout.writeFd, (stderr ?? stdout).writeFd] as const,
    closeOurs: () => {
      closeSync(readFd)
      stdout.closeWriter()
      stderr?.closeWriter()
    },
  }
}
