/** Waits for the setup script of a new Dock. */
import { type Client, DockError, type DockInfo } from '@dock/sdk'
import { nameOf } from './find-dock.ts'

const firstPauseMs = 200
const longestPauseMs = 2000

/** Returns the Dock as it is when its setup has ended, or when the Dock has. */
export async function awaitSetup(client: Client, made: DockInfo): Promise<DockInfo> {
  let dock = made
  for (let pause = firstPauseMs; isUnderWay(dock); pause = Math.min(longestPauseMs, pause * 1.5)) {
    await new Promise((resolve) => setTimeout(resolve, pause))
    dock = await client.call('readDock', { params: { id: made.id } })
  }
  return dock
}

const isUnderWay = ({ setupStatus, state }: DockInfo): boolean =>
  (setupStatus === 'pending' || setupStatus === 'running') &&
  !['archiving', 'archived', 'error'].includes(state)

/** Returns the error for a Dock that runs, and whose setup failed. */
export function setupFailure(dock: DockInfo): DockError {
  const name = nameOf(dock)
  const reason = dock.setupError?.trimEnd() || 'no reason is known'
  return new DockError(
    'setup_failed',
    `The setup of ${name} failed: ${/[.!?]$/.test(reason) ? reason : `${reason}.`} The Dock is kept. Look into it with dock shell ${name}, or delete it with dock rm ${name}.`,
  )
}
