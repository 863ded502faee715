/** The server that all test files of the project `e2e` share. */
import { readFileSync } from 'node:fs'
import type { Dock } from '@dock/contract'
import { createClient } from '@dock/sdk'
import { afterAll, beforeAll, inject } from 'vitest'
import { deleteDock, deleteTemplate } from './dock.ts'
import type { Server } from './server.ts'

export type SharedServer = Pick<Server, 'dataDir' | 'admin' | 'client' | 'output' | 'pid'>

/**
 * Returns the shared server. Call it at the top of a test file. Docks and Templates that the file leaves behind are
 * deleted afterwards. Use unique names, because all files share a workspace.
 */
export function useServer(): SharedServer {
  const { admin, dataDir, logFile, pid } = inject('sharedServer')
  const client = createClient({ baseUrl: admin.baseUrl, apiKey: admin.apiKey, retries: 0 })
  const server = { admin, client, dataDir, pid, output: () => readFileSync(logFile, 'utf8') }
  const list = (): Promise<Dock[]> => client.call('listDocks', { query: { all: true } })
  let before: Set<string>
  beforeAll(async () => {
    before = new Set((await list()).map(({ id }) => id))
  })
  afterAll(async () => {
    // Templates first, because they prevent the deletion of their Docks.
    for (const { name } of await client.call('listTemplates', {})) await deleteTemplate(server, name)
    const left = (await list()).filter(({ id }) => !before.has(id))
    await Promise.all(left.map(({ id }) => deleteDock(server, id)))
  })
  return server
}

/** Returns a unique name, so that the same test can run again. */
export function freshName(stem: string): string {
  return `${stem}-${Math.random().toString(36).slice(2, 8)}`
}
