/** Runs real programs of this machine with the streams of an attached process. Tests only. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readdir, readlink } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  ExecRefused,
  type OpenProcess,
  type ProcessEnd,
  type ProcessRequest,
  processEndOf,
  type SignalName,
  type SignalTarget,
} from '@dock/runtime'
import { ProcessStreams } from '@dock/runtime-gvisor/src/pipes/process-streams.ts'
import { ptyProgram, resizeProgram } from '@dock/runtime-gvisor/src/process/pty-program.ts'

const run = promisify(execFile)

export type LocalProcess = OpenProcess & {
  /** With a pseudo-terminal, the program on it gets the signal. */
  signal(name: SignalName, target: SignalTarget): Promise<void>
  /** Ends the outputs, even if a process still holds them. */
  finish(): void
}

/** Starts the program as this process's user. Throws ExecRefused if the program or the folder does not exist. */
export async function openLocalProcess(
  request: Omit<ProcessRequest, 'uid' | 'gid' | 'onStarted'>,
  mark: string,
): Promise<LocalProcess> {
  const { pty, cwd, descriptors, waitsForOutputs } = request
  const { argv, env } = pty ? ptyProgram(request.argv, request.env, pty) : request
  const streams = descriptors ? null : new ProcessStreams({ isTerminal: pty !== undefined })
  const links = await Promise.all(
    (descriptors ?? streams!.descriptors).map((each) => readlink(`/proc/self/fd/${each}`)),
  )
  const child = spawn(argv[0]!, argv.slice(1), {
    ...{ cwd, env, detached: true },
    stdio: [...(descriptors ?? streams!.descriptors)],
  })
  streams?.closeTheirs()
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      if (waitsForOutputs) streams?.closeInput()
      else streams?.finish()
      if (signal) resolve({ exitCode: null, signal: signal.replace('SIG', '') })
      else resolve(pty ? processEndOf(code!) : { exitCode: code, signal: null })
    })
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) => {
      streams?.destroy()
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
    finish: () => streams?.finish(),
    resize: (cols, rows) => {
      if (pty)
        execFile('/bin/bash', ['-c', resizeProgram, 'resize', `${pid}`, `${cols}`, `${rows}`], () => {})
    },
    signal: async (name, target) => {
      const leader = pty ? await leaderOnTerminal(child) : pid
      if (leader === null) return
      const foreground = pty && name === 'HUP' ? await foregroundOf(leader) : []
      if (target === 'attached' && !pty) {
        for (const each of await attachedOf(leader, links)) sendSignal(each, name)
        return
      }
      const isGroup = target === 'group' || target === 'attached'
      const targets = isGroup ? [-leader, ...foreground] : target === 'tree' ? await treeOf(pid) : [leader]
      for (const each of targets) sendSignal(each, name)
    },
  }
}

const sendSignal = (pid: number, name: SignalName): void => {
  try {
    process.kill(pid, `SIG${name}`)
  } catch {
    // It has ended.
  }
}

const childrenOf = (pid: number): Promise<number[]> =>
  run('/usr/bin/pgrep', ['--parent', String(pid)]).then(
    ({ stdout }) => stdout.trim().split('\n').map(Number),
    () => [],
  )

/** How long a busy machine may take until a program leads the session of its terminal. */
const leaderMs = 10_000

/**
 * Returns the process that `script` runs on its terminal, or null if there is none any more. It leads a session a moment
 * after it was started, and cannot be signalled as a group before.
 */
const leaderOnTerminal = async (script: ChildProcess): Promise<number | null> => {
  const deadline = performance.now() + leaderMs
  while (script.exitCode === null && script.signalCode === null && performance.now() < deadline) {
    const [child] = await childrenOf(script.pid!)
    if (child !== undefined && (await sessionOf(child)) === child) return child
    await delay(5)
  }
  return null
}

const sessionOf = (pid: number): Promise<number> =>
  run('/usr/bin/ps', ['-o', 'sid=', '-p', String(pid)]).then(
    ({ stdout }) => Number(stdout),
    () => 0,
  )

/** The leader of a process group, and the members that have a file open to which one of the links leads. */
const attachedOf = async (leader: number, links: readonly string[]): Promise<number[]> => {
  const found = await run('/usr/bin/pgrep', ['--pgroup', String(leader)]).catch(() => ({ stdout: '' }))
  const members = found.stdout.trim().split('\n').map(Number)
  const isAttached = async (pid: number): Promise<boolean> => {
    const names = await readdir(`/proc/${pid}/fd`).catch(() => [])
    const open = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
    return open.some((link) => links.includes(link))
  }
  const checks = await Promise.all(members.map(async (pid) => pid === leader || (await isAttached(pid))))
  return members.filter((_, index) => checks[index])
}

/** The process group in the foreground of the terminal that the process leads, as a pid to signal. */
const foregroundOf = (leader: number): Promise<number[]> =>
  run('/usr/bin/ps', ['-o', 'tpgid=', '-p', String(leader)]).then(
    ({ stdout }) => [Number(stdout)].filter((group) => group > 0 && group !== leader).map((group) => -group),
    () => [],
  )

const treeOf = async (pid: number): Promise<number[]> => [
  pid,
  ...(await Promise.all((await childrenOf(pid)).map(treeOf))).flat(),
]
