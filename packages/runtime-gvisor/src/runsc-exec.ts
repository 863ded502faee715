/** Commands by `runsc exec`: one host process each, 20 to 30 ms on top of the command. */
import { spawn } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExecRefused, type ExecRequest, type ExecResult } from '@dock/runtime'
import type { ExecTransport } from './exec-transport.ts'
import { capabilitiesOf } from './oci-config.ts'
import { OutputPipe } from './output-pipe.ts'
import { execMark, killTreeProgram, newExecMark } from './process-tree.ts'
import type { Runsc } from './runsc.ts'

const couldNotStart = 128
const killTimeoutMs = 10_000
const killOutputBytes = 4096

type Running = { exitCode: number; stdout: OutputPipe; stderr: OutputPipe }

/** `requestDir` holds each command's request while it starts: a folder on tmpfs, made 0700. */
export const createRunscExec = (runsc: Runsc, requestDir: string): ExecTransport => {
  const spawnExec = (
    id: string,
    request: ExecRequest,
    files: { process: string; pid: string },
    onTimeout: (stop: () => void) => void,
  ): Promise<Running> =>
    new Promise((resolve, reject) => {
      const stdout = new OutputPipe(request.outputLimitBytes)
      const stderr = new OutputPipe(request.outputLimitBytes)
      const child = spawn(
        runsc.path,
        runsc.args('exec', `--process=${files.process}`, `--internal-pid-file=${files.pid}`, id),
        { stdio: [request.input === undefined ? 'ignore' : 'pipe', stdout.writeFd, stderr.writeFd] },
      )
      stdout.closeWriter()
      stderr.closeWriter()
      child.stdin?.on('error', () => undefined)
      child.stdin?.end(request.input)
      const timer = setTimeout(() => onTimeout(() => child.kill('SIGKILL')), request.timeoutMs)
      child.once('error', (error) => {
        clearTimeout(timer)
        stdout.finish()
        stderr.finish()
        reject(error)
      })
      child.once('exit', (code) => {
        clearTimeout(timer)
        resolve({ exitCode: code ?? 137, stdout, stderr })
      })
    })

  const run = async (
    id: string,
    request: ExecRequest,
    mark: string,
    killable: boolean,
  ): Promise<ExecResult> => {
    await mkdir(requestDir, { recursive: true, mode: 0o700 })
    const files = { process: join(requestDir, `${mark}.json`), pid: join(requestDir, `${mark}.pid`) }
    const env = killable ? { ...request.env, [execMark]: mark } : request.env
    const process = {
      user: { uid: request.uid, gid: request.gid },
      args: request.argv,
      env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      cwd: request.cwd,
      capabilities: capabilitiesOf(request.uid),
    }
    await writeFile(files.process, JSON.stringify(process), { mode: 0o600 })
    let killing: Promise<void> | undefined
    const startedAt = performance.now()
    try {
      const ended = await spawnExec(id, request, files, (stop) => {
        killing = (killable ? killTree(id, mark, files.pid) : Promise.resolve()).finally(stop)
      })
      const durationMs = Math.round(performance.now() - startedAt)
      await killing
      const stdout = ended.stdout.finish()
      const stderr = ended.stderr.finish()
      if (ended.exitCode === couldNotStart && (await pidIn(files.pid)) === 0)
        throw new ExecRefused(stderr.toString('utf8').trim().slice(0, 1000))
      return {
        exitCode: ended.exitCode,
        stdout,
        stderr,
        durationMs,
        truncated: ended.stdout.truncated || ended.stderr.truncated,
        timedOut: killing !== undefined,
      }
    } finally {
      await Promise.all([rm(files.process, { force: true }), rm(files.pid, { force: true })])
    }
  }

  const killTree = async (id: string, mark: string, pidFile: string): Promise<void> => {
    const first = await pidIn(pidFile)
    const killer: ExecRequest = {
      argv: ['/bin/bash', '-c', killTreeProgram, 'kill-tree', mark, String(first)],
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
      uid: 0,
      gid: 0,
      timeoutMs: killTimeoutMs,
      outputLimitBytes: killOutputBytes,
    }
    // A sandbox that died meanwhile, or an image without bash: what is left is ended with the host's process.
    await run(id, killer, newExecMark(), false).catch(() => undefined)
  }

  return { name: 'runsc-exec', exec: (id, request) => run(id, request, newExecMark(), true) }
}

/** The number that a finished start wrote; 0 when the command has not started. */
const pidIn = async (path: string): Promise<number> => {
  const text = await readFile(path, 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || 0
}
