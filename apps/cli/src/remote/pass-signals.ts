/** Passes signals of this program on to a command in a Dock. */
import type { Process } from '@dock/sdk'

const passedOn = { SIGINT: 'INT', SIGTERM: 'TERM', SIGHUP: 'HUP', SIGQUIT: 'QUIT' } as const

/**
 * Passes signals on until the returned function is called. The second one kills the command with all that it started; the
 * third one leaves it alone and ends this program.
 */
export function passSignals(process: Pick<Process, 'kill'>): () => void {
  let count = 0
  const handlers = Object.entries(passedOn).map(([own, name]) => {
    const handle = (): void => {
      count += 1
      if (count > 2) globalThis.process.exit(130)
      const sent = count === 2 ? process.kill('KILL', { target: 'tree' }) : process.kill(name)
      sent.catch(() => undefined)
    }
    globalThis.process.on(own, handle)
    return [own, handle] as const
  })
  return () => {
    for (const [own, handle] of handlers) globalThis.process.off(own, handle)
  }
}
