/** Starts a sandbox that outlives the `runsc run` that started it, and waits until process 1 is ready. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { InputPipe } from '../pipes/input-pipe.ts'
import { hasSpareCpu } from '../system/spare-cpu.ts'

const readyTimeoutMs = 30_000
const outputBytesMax = 4096
/**
 * Processes inside inherit this score, so the OOM killer prefers them. The sandbox itself gets a lower one after the
 * boot.
 */
const launch = 'echo 800 >/proc/self/oom_score_adj; exec "$0" "$@"'
/**
 * SCHED_BATCH, as for the first moments of a command (batch-scheduling.ts). Concurrent boots all finish sooner with it.
 */
const batchPrefix = ['chrt', '--batch', '0']
const underWay = new Set<object>()

/**
 * Runs `program` with `args`, and with `input` on the sandbox's standard input. Resolves when the program has exited
 * with 0 and the sandbox wrote `0` and a line break to its standard output. Then closes the streams, so that nothing in
 * the sandbox can make the host buffer output. Otherwise rejects with the text of standard error.
 */
export function runDetached(program: string, args: readonly string[], input?: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const isBatch = underWay.size > 0 || hasSpareCpu()
    const command = [...(isBatch ? batchPrefix : []), program, ...args]
    // A pipe, because bash reads root's .bashrc if its input is a socket.
    const given = input?.length ? new InputPipe() : undefined
    const child = spawn('/bin/sh', ['-c', launch, ...command], {
      stdio: [given?.readFd ?? 'ignore', 'pipe', 'pipe'],
    }) as ChildProcessByStdio<null, Readable, Readable>
    child.once('error', (error) => end(error))
    underWay.add(child)
    given?.closeReader()
    if (input) given?.write(input)
    given?.end()
    let stdout = ''
    let stderr = ''
    let exitCode: number | undefined
    const late = setTimeout(
      () => end(new Error(`the sandbox was not ready after ${readyTimeoutMs} ms`)),
      readyTimeoutMs,
    )
    const end = (error?: Error): void => {
      underWay.delete(child)
      clearTimeout(late)
      // Without descriptors left, the child has no streams.
      child.stdout?.destroy()
      child.stderr?.destroy()
      given?.destroy()
      if (error) reject(error)
      else resolve()
    }
    const settle = (): void => {
      const failure = exitCode !== undefined && exitCode !== 0 ? `runsc run: exit ${exitCode}` : undefined
      if (failure) end(new Error(`${failure}: ${stderr.trim()}`))
      else if (stdout.includes('\n') && stdout !== '0\n')
        end(new Error(`preparing the sandbox failed with exit code ${stdout.trim()}: ${stderr.trim()}`))
      else if (stdout === '0\n' && exitCode === 0) end()
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(0, outputBytesMax)
      settle()
    })
    child.stdout.once('end', () => {
      if (stdout === '') end(new Error(`the sandbox ended while it started: ${stderr.trim()}`))
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(0, outputBytesMax)
    })
    child.once('exit', (code) => {
      exitCode = code ?? 128
      settle()
    })
  })
}
