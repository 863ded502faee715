/**
 * The operations that crash tests interrupt: the preparation, the call, and the checks afterwards, which depend on
 * whether the call was acknowledged.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Dock } from '@dock/contract'
import { DockApiError } from '@dock/sdk'
import { createDock, run } from '../e2e/support/dock.ts'
import type { Server } from '../e2e/support/server.ts'
import { killSandbox } from './processes.ts'

export const operations = ['create', 'stop', 'resume', 'branch', 'delete', 'recover'] as const
export type Operation = (typeof operations)[number]

type World = Pick<Server, 'client' | 'admin' | 'dataDir'>

const recoveryMsMax = 60_000

/** A Dock in the state that the operation needs, with a file of known content. A create has no Dock yet. */
export type Prepared = { dock: Dock | null; content: string; key: string; name: string }

const file = '/home/user/work/kept'

export function readContent(world: World, id: string): Promise<string> {
  return run(world, id, `cat ${file} 2>/dev/null || true`)
}

/** Creates the Dock that the operation works on. */
export async function prepare(world: World, operation: Operation, name: string): Promise<Prepared> {
  const content = `${name} ${Math.random()}\n`
  const prepared: Prepared = { dock: null, content, key: `key-${name}`, name }
  if (operation === 'create') return prepared
  const dock = await createDock(world, { name })
  await run(world, dock.id, `printf '%s' '${content}' > ${file}`)
  if (operation === 'resume') await world.client.call('stopDock', { params: { id: dock.id }, body: {} })
  return { ...prepared, dock }
}

export function branchName(name: string): string {
  return `${name}-branch`
}

const createBody = (world: World, name: string) => ({
  workspaceId: world.admin.workspaceId,
  name,
  cpus: 1,
  memoryMiB: 1024,
  diskGiB: 2,
})

/** Makes the call. Create and branch carry an idempotency key, so that they can be repeated. */
export async function perform(world: World, operation: Operation, prepared: Prepared): Promise<unknown> {
  const { client } = world
  const { name, key, dock } = prepared
  const params = { id: dock?.id ?? '' }
  const headers = { 'idempotency-key': key }
  switch (operation) {
    case 'create':
      return client.call('createDock', { body: createBody(world, name), headers })
    case 'branch':
      return client.call('branchDock', { params, body: { name: branchName(name) }, headers })
    case 'stop':
      return client.call('stopDock', { params, body: {} })
    case 'resume':
      return client.call('resumeDock', { params, body: {} })
    case 'delete':
      return client.call('deleteDock', { params, headers: { 'x-confirm-delete': params.id } })
    case 'recover':
      return loseRuntime(world, params.id)
  }
}

/** Kills the Dock's sandbox and waits until the Dock has booted again. */
const loseRuntime = async (world: World, id: string): Promise<void> => {
  const before = await world.client.call('readDock', { params: { id } })
  await killSandbox(id)
  const deadline = Date.now() + recoveryMsMax
  for (;;) {
    const dock = await world.client.call('readDock', { params: { id } })
    if (dock.state === 'ready' && dock.stateChangedAt !== before.stateChangedAt) return
    if (Date.now() > deadline) throw new Error(`the Dock was not recovered in time: it is ${dock.state}`)
    await delay(50)
  }
}

const problemUnless = (holds: boolean, sentence: string): string[] => (holds ? [] : [sentence])

const read = async ({ client }: World, id: string): Promise<Dock | null> => {
  try {
    return await client.call('readDock', { params: { id } })
  } catch (error) {
    if (error instanceof DockApiError && error.code === 'dock_not_found') return null
    throw error
  }
}

const named = async ({ client }: World, name: string): Promise<Dock[]> =>
  (await client.call('listDocks', { query: { all: true } })).filter((dock) => dock.name === name)

/** Checks that a Dock, resumed if necessary, still has its file. */
const holdsContent = async (world: World, id: string, content: string): Promise<string[]> => {
  const dock = await read(world, id)
  if (dock?.state === 'archived') await world.client.call('resumeDock', { params: { id }, body: {} })
  const found = await readContent(world, id)
  return problemUnless(
    found === content,
    `Dock ${id} (${dock?.state}) contains '${found}' instead of '${content}'`,
  )
}

/** Repeats a call with the same idempotency key. There must be exactly one Dock, ready or failed. */
const replayed = async (
  world: World,
  operation: 'create' | 'branch',
  prepared: Prepared,
): Promise<{ problems: string[]; dock: Dock | null }> => {
  const name = operation === 'create' ? prepared.name : branchName(prepared.name)
  const dock = (await perform(world, operation, prepared)) as Dock
  const all = await named(world, name)
  const problems = [
    ...problemUnless(all.length === 1, `${all.length} Docks are named ${name}`),
    ...problemUnless(['ready', 'error'].includes(dock.state), `${name} is ${dock.state}`),
  ]
  return { problems, dock: dock.state === 'ready' ? dock : null }
}

/** Lists problems with the result of an operation. `answered` is true if the caller was told that it succeeded. */
export async function verify(
  world: World,
  operation: Operation,
  prepared: Prepared,
  answered: boolean,
): Promise<string[]> {
  const { content, dock } = prepared
  const id = dock?.id ?? ''
  const now = dock ? await read(world, id) : null
  switch (operation) {
    case 'create': {
      const { problems, dock: made } = await replayed(world, 'create', prepared)
      if (answered) problems.push(...problemUnless(made !== null, 'an acknowledged create failed'))
      return made
        ? [
            ...problems,
            ...problemUnless((await run(world, made.id, 'echo up')) === 'up\n', 'the Dock runs no command'),
          ]
        : problems
    }
    case 'branch': {
      const { problems, dock: copy } = await replayed(world, 'branch', prepared)
      if (answered) problems.push(...problemUnless(copy !== null, 'an acknowledged branch failed'))
      if (copy) problems.push(...(await holdsContent(world, copy.id, content)))
      return [
        ...problems,
        ...problemUnless(now?.state === 'ready', `the source is ${now?.state}`),
        ...(await holdsContent(world, id, content)),
      ]
    }
    case 'stop':
      return [
        ...problemUnless(
          now?.state === 'archived' || (now?.state === 'ready' && !answered),
          `after a stop, the Dock is ${now?.state}`,
        ),
        ...(await holdsContent(world, id, content)),
      ]
    case 'resume':
      return [
        ...problemUnless(
          now?.state === 'ready' || (now?.state === 'archived' && !answered),
          `after a resume, the Dock is ${now?.state}`,
        ),
        ...(await holdsContent(world, id, content)),
      ]
    case 'recover':
      return [
        ...problemUnless(now?.state === 'ready', `after a recovery, the Dock is ${now?.state}`),
        ...(await holdsContent(world, id, content)),
      ]
    case 'delete':
      if (now === null) return []
      if (answered) return ['an acknowledged delete left the Dock']
      await perform(world, 'delete', prepared)
      return problemUnless((await read(world, id)) === null, 'a repeated delete left the Dock')
  }
}
