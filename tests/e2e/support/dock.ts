/** Steps on Docks through the public API, shared by the tests. */
import type { Dock, ExecResult } from '@dock/contract'
import type { Server as AnyServer } from './server.ts'

type Server = Pick<AnyServer, 'admin' | 'client'>

export type DockOptions = {
  name?: string
  cpus?: number
  memoryMiB?: number
  diskGiB?: number
  ttlSeconds?: number
  environment?: string
}

/** Creates a small Dock and returns it when it is ready. */
export function createDock({ client, admin }: Server, options: DockOptions = {}): Promise<Dock> {
  return client.call('createDock', {
    body: { workspaceId: admin.workspaceId, cpus: 1, memoryMiB: 1024, diskGiB: 2, ...options },
  })
}

export type ExecOptions = { timeoutSeconds?: number; env?: Record<string, string>; cwd?: string }

/** Runs a command. The caller checks the exit code. */
export function exec(
  { client }: Server,
  id: string,
  command: string,
  options: ExecOptions = {},
): Promise<ExecResult> {
  return client.call('execInDock', { params: { id }, body: { command, ...options } })
}

/** Runs a command that must succeed and returns its standard output. */
export async function run(
  server: Server,
  id: string,
  command: string,
  options: ExecOptions = {},
): Promise<string> {
  const result = await exec(server, id, command, options)
  if (result.exitCode !== 0)
    throw new Error(`${command}: exit ${result.exitCode}: ${result.stdout}${result.stderr}`)
  return result.stdout
}

const operationDeadlineMs = 60_000

/** Deletes a Dock and waits until the operation is completed. */
export async function deleteDock(server: Server, id: string): Promise<void> {
  const confirmed = { params: { id }, headers: { 'x-confirm-delete': id } }
  await untilCompleted(server, (await server.client.call('deleteDock', confirmed)).operation)
}

/** Deletes a Template of the first organization and waits until the operation is completed. */
export async function deleteTemplate(server: Server, name: string): Promise<void> {
  const { client, admin } = server
  const named = { params: { name }, query: { organizationId: admin.organizationId } }
  await untilCompleted(server, (await client.call('deleteTemplate', named)).operation)
}

const untilCompleted = async ({ client }: Server, operation: { id: string }): Promise<void> => {
  const deadline = Date.now() + operationDeadlineMs
  for (;;) {
    const { status } = await client.call('readOperation', { params: { id: operation.id } })
    if (status === 'completed') return
    if (Date.now() > deadline) throw new Error(`operation ${operation.id} is still ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Polls a Dock until it is in one of the states. Throws after `timeoutMs`. */
export async function untilState(
  { client }: Server,
  id: string,
  states: readonly Dock['state'][],
  timeoutMs = 60_000,
): Promise<Dock> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const dock = await client.call('readDock', { params: { id } })
    if (states.includes(dock.state)) return dock
    if (Date.now() > deadline) throw new Error(`Dock ${id} is ${dock.state}, not ${states.join(' or ')}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
