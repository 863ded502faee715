/** Counts system calls of a process with strace, if this machine has it. The counted process is slow meanwhile. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tryCommand } from '@dock/foundation'

/** Returns the sum of the calls in a table of `strace -c`: the fourth column of its last line. */
export function readTotalCalls(summary: string): number {
  const total = summary.split('\n').findLast((line) => /\stotal\s*$/.test(line))
  const calls = Number(total?.trim().split(/\s+/)[3] ?? Number.NaN)
  if (!Number.isFinite(calls)) throw new Error(`strace printed no total:\n${summary}`)
  return calls
}

export function hasStrace(): Promise<boolean> {
  return tryCommand('strace', ['--version']).then(
    ({ code }) => code === 0,
    () => false,
  )
}

/** Starts counting. Returns a function that ends it and returns the calls of the threads that were there from the start. */
export async function countSystemCalls(pid: number): Promise<() => Promise<number>> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-strace-'))
  const summary = join(folder, 'summary')
  // Without -f: programs that the process starts, and sandboxes below them, must not be traced.
  const threads = (await readdir(`/proc/${pid}/task`)).flatMap((thread) => ['-p', thread])
  const tracer = spawn('strace', ['-c', '-o', summary, ...threads], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(tracer, 'exit')
  let told = ''
  await new Promise<void>((resolve, reject) => {
    tracer.stderr.setEncoding('utf8').on('data', (text: string) => {
      told += text
      if (told.split('attached').length > threads.length / 2) resolve()
    })
    ended.then(() => reject(new Error(`strace ended: ${told}`)), reject)
  })
  return async () => {
    tracer.kill('SIGINT')
    await ended
    const calls = readTotalCalls(await readFile(summary, 'utf8'))
    await rm(folder, { recursive: true })
    return calls
  }
}
