/** Ends a program on a terminal when the window of this terminal closes, or this program is told to end (decision 018). */
import type { Process } from '@dock/sdk'

const exitCodes = { SIGHUP: 129, SIGTERM: 143 } as const
const hangUpMs = 5000

/**
 * Starts a program and works with it. At SIGHUP and SIGTERM, also while it is being started, the program is hung up, and
 * this process exits.
 */
export async function withHangUp<Started extends Pick<Process, 'kill'>>(
  start: () => Promise<Started>,
  work: (program: Started) => Promise<number>,
): Promise<number> {
  const starting = Promise.withResolvers<Started>()
  let isLeaving = false
  const leave = async (code: number): Promise<void> => {
    if (isLeaving) return
    isLeaving = true
    setTimeout(() => process.exit(code), hangUpMs)
    await starting.promise.then((program) => program.kill('HUP')).catch(() => undefined)
    process.exit(code)
  }
  const handlers = Object.entries(exitCodes).map(([name, code]) => {
    const handle = (): void => void leave(code)
    process.on(name, handle)
    return { name, handle }
  })
  // The terminal is gone: reading it fails, perhaps before the signal arrives.
  const lost = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EIO') void leave(exitCodes.SIGHUP)
  }
  for (const stream of [process.stdin, process.stdout]) stream.on('error', lost)
  try {
    starting.resolve(start())
    const result = await work(await starting.promise)
    // What a hung-up program returns is of no interest: the process is about to exit.
    return isLeaving ? await new Promise<never>(() => undefined) : result
  } catch (error) {
    if (isLeaving) return await new Promise<never>(() => undefined)
    throw error
  } finally {
    for (const { name, handle } of handlers) process.off(name, handle)
    for (const stream of [process.stdin, process.stdout]) stream.off('error', lost)
  }
}
