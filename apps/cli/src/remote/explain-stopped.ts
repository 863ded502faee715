/** Says what to do about a Dock that is not running. */
import { ConflictError, type Dock, hasCode } from '@dock/sdk'
import { nameOf } from '../docks/find-dock.ts'
import { wordOf } from '../docks/words.ts'

/** Does the work. If it fails because the Dock does not run, the error names the command that helps. */
export async function explainStopped<T>({ client, info }: Dock, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!hasCode(error, 'dock_not_running')) throw error
    const name = nameOf(info)
    const { state } = await client.call('readDock', { params: { id: info.id } }).catch(() => info)
    const isStopped = state === 'archived' || state === 'archiving'
    throw new ConflictError(
      'dock_not_running',
      409,
      isStopped
        ? `${name} is stopped. Resume it: dock resume ${name}`
        : `${name} does not take commands: it is ${wordOf(state).toLowerCase()}. See: dock show ${name}`,
    )
  }
}
