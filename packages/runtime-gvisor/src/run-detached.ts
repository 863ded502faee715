/** Starts a sandbox that outlives the program which starts it, and waits until its first process says it is ready. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { isCalm } from './calm.ts'
import { InputPipe } from './input-pipe.ts'

const readyTimeoutMs = 30_000
const saidBytesMax = 4096
/** Processes inside are to be chosen before the sandbox that holds them: it starts with this and is set back. */
const launch = 'echo 800 >/proc/self/oom_score_adj; exec "$0" "$@"'
/** A boot is all first moments. Boots that run side by side wait for each other: all of them are over sooner. */
const patiently = ['chrt', '--batch', '0']
const underWay = new Set<object>()

/**
 * Runs `program` with `args`, and `input` for the sandbox to read. Resolves when it has ended well and the sandbox wrote
 * `0` and a line end to its standard output. The streams are closed then: nothing in the sandbox can make the host keep
 * its output. Throws with what was said on standard error otherwise.
 */
export function runDetached(program: string, args: readonly string[], input?: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const isPatient = underWay.size > 0 || isCalm()
    const command = [...(isPatient ? patiently : []), program, ...args]
    // A pipe: where its input is a socket, bash would read root's .bashrc.
    const given = input?.length ? new InputPipe() : undefined
    const child = spawn('/bin/sh', ['-c', launch, ...command], {
      stdio: [given?.readFd ?? 'ignore', 'pipe', 'pipe'],
    }) as ChildProcessByStdio<null, Readable, Readable>
    underWay.add(child)
    given?.closeReader()
    if (input) given?.write(input)
    given?.end()
    let answer = ''
    let said = ''
    let exitCode: number | undefined
    const late = setTimeout(() => end(new Error('the sandbox did not become ready in time')), readyTimeoutMs)
    const end = (error?: Error): void => {
      underWay.delete(child)
      clearTimeout(late)
      child.stdout.destroy()
      child.stderr.destroy()
      given?.destroy()
      if (error) reject(error)
      else resolve()
    }
    const look = (): void => {
      const failure = exitCode !== undefined && exitCode !== 0 ? `runsc run: exit ${exitCode}` : undefined
      if (failure) end(new Error(`${failure}: ${said.trim()}`))
      else if (answer.includes('\n') && answer !== '0\n')
        end(new Error(`preparing the sandbox ended with ${answer.trim()}: ${said.trim()}`))
      else if (answer === '0\n' && exitCode === 0) end()
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      answer = (answer + text).slice(0, saidBytesMax)
      look()
    })
    child.stdout.once('end', () => {
      if (answer === '') end(new Error(`the sandbox ended while it started: ${said.trim()}`))
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, saidBytesMax)
    })
    child.once('error', end)
    child.once('exit', (code) => {
      exitCode = code ?? 128
      look()
    })
  })
}
