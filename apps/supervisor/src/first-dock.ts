/** The proof at the very first start: a Dock is made through the public API and tells what it is. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '@dock/foundation'
import { type Admin, call, keyIsDead } from './readiness.ts'

export type FirstDock = { id: string; name: string; uname: string; elapsedMs: number }

/**
 * Makes the first Dock, or answers undefined when an earlier start has or the first person's key is dead. Rejects with
 * the API's own sentence.
 */
export async function makeFirstDock(
  address: string,
  admin: Admin,
  dataDir: string,
): Promise<FirstDock | undefined> {
  const marker = join(dataDir, 'first-dock.json')
  const made = await access(marker).then(
    () => true,
    () => false,
  )
  if (made) return undefined
  const startedAt = Date.now()
  const findOrMake = async (): Promise<{ id: string; name: string }> => {
    // A start that was broken off may have made it.
    const docks = await call<{ id: string; name: string }[]>(address, admin, 'GET', '/v1/docks?all=true')
    const body = { workspaceId: admin.workspaceId, image: admin.image, name: 'first' }
    return docks.find(({ name }) => name === body.name) ?? call(address, admin, 'POST', '/v1/docks', body)
  }
  const dock = await findOrMake().catch((error: unknown) => {
    if (keyIsDead(error)) return undefined
    throw error
  })
  if (!dock) return undefined
  const result = await call<{ stdout: string }>(address, admin, 'POST', `/v1/docks/${dock.id}/exec`, {
    command: 'uname -a',
  })
  const elapsedMs = Date.now() - startedAt
  await writeFileDurably(marker, `${JSON.stringify({ id: dock.id })}\n`)
  return { id: dock.id, name: dock.name, uname: result.stdout.trim(), elapsedMs }
}
