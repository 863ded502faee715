/** Test of the very first start: creates a Dock through the public API and runs a command in it. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '@dock/foundation'
import { type Admin, call, keyIsDead } from './readiness.ts'

export type FirstDock = { id: string; name: string; uname: string; elapsedMs: number }

/**
 * Makes the first Dock. Returns undefined if an earlier start has made it, or if the key of the first admin is no longer
 * valid. Rejects with the error sentence of the API.
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
    // An interrupted start may have made it.
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
