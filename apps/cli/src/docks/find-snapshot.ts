/** Finds the Snapshot that an argument names. */
import { type Client, hasCode, Snapshots } from '@dock/sdk'
import { cleanText } from '../output/clean-text.ts'
import { notFound, UsageError } from '../program/failures.ts'
import { dockByName, nameOf } from './find-dock.ts'
import { isId } from './pick.ts'

const latestOf = async (client: Client, dock: { id: string; name: string | null }): Promise<string> => {
  const latest = await client.call('readLatestSnapshot', { params: { id: dock.id } })
  if (latest) return latest.id
  throw notFound(`${nameOf(dock)} has no Snapshot. A stop makes one: dock stop ${nameOf(dock)}`)
}

const isMissing = (error: unknown): boolean => hasCode(error, 'dock_not_found') || hasCode(error, 'not_found')

const byBeginning = async (client: Client, text: string): Promise<string> => {
  const all = await new Snapshots(client).list()
  const found = all.filter(({ id }) => id.startsWith(text.toLowerCase()))
  const [first, other] = found
  if (other)
    throw new UsageError(
      `Several Snapshots begin with ${text}. Write an id: ${found
        .slice(0, 10)
        .map(({ id }) => id)
        .join(', ')}.`,
    )
  if (!first) throw notFound(`There is no Dock and no Snapshot ${JSON.stringify(cleanText(text))}.`)
  return first.id
}

/**
 * Returns the id of a Snapshot by its id, or by the beginning of its id of at least six letters; for a Dock, the id of its
 * latest one.
 */
export async function findSnapshot(client: Client, text: string): Promise<string> {
  const dock = await dockByName(client, text).catch((error: unknown) => {
    if (isMissing(error) && /^[0-9a-f-]{6,}$/i.test(text)) return null
    throw error
  })
  if (dock) return latestOf(client, dock)
  // The service knows best whether it exists.
  return isId(text) ? text.toLowerCase() : byBeginning(client, text)
}
