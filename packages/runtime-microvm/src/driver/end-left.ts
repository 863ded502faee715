/** Ends a program that an earlier agent left in a guest. */
import { systemClock, waitAtMost } from '@dock/foundation'
import { signalNumbers } from '@dock/runtime'
import { GuestRefused } from '../link/index.ts'
import type { GuestSession } from './guest-session.ts'

/** How long it may tidy up after the end of its input. */
const tidyMs = 1_000

/**
 * Its input ends first, as that of a program whose pipes die with an agent. So an upload that broke off removes what it wrote.
 * Then the whole tree is killed.
 */
export async function endLeft(session: GuestSession, id: number): Promise<void> {
  const kill = () => session.ask((link) => link.signal(id, signalNumbers.KILL, 'tree'))
  try {
    const program = await session.ask((link) => link.attach(id))
    for (const output of [program.stdout, program.stderr]) output.resume()
    program.stdin.end()
    const ended = program.exited.catch(() => undefined)
    await waitAtMost(systemClock, tidyMs, ended)
    await kill()
    void ended.then(() => program.close())
  } catch (error) {
    // The guest does not know it any more.
    if (!(error instanceof GuestRefused)) throw error
  }
}
