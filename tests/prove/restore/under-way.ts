/**
 * Operations that are running while a backup is taken. The agent is paused during the backup and completes them
 * afterwards, in the time that the restored database has lost. Then each Dock moves on to a newer state.
 */
import type { Dock } from '@dock/contract'
import { createDock, untilState } from '../../e2e/support/dock.ts'
import { agentOf } from '../../e2e/support/second-machine.ts'
import type { Server } from '../../e2e/support/server.ts'
import { pause, resume, stop, untilItRuns, words, write } from './instance.ts'

export type UnderWay = {
  /** Docks that are being stopped, resumed, branched and saved as a Template. */
  stopped: string
  resumed: string
  source: string
  saved: string
}

const template = 'saved'

export async function prepareDocks(server: Server): Promise<UnderWay> {
  const make = async (name: string): Promise<string> => {
    const { id } = await createDock(server, { name })
    await write(server, id, 'before')
    return id
  }
  const docks = {
    stopped: await make('under-way-stopped'),
    resumed: await make('under-way-resumed'),
    source: await make('under-way-source'),
    saved: await make('under-way-saved'),
  }
  await stop(server, docks.resumed)
  return docks
}

/** Takes the backup while a stop, a resume, a branch, a Template and a create are running. Returns the new Docks. */
export async function backUpMeanwhile(
  server: Server,
  docks: UnderWay,
  backUp: () => Promise<unknown>,
): Promise<{ copy: string; created: string }> {
  const { client } = server
  const agent = await agentOf(server.dataDir)
  process.kill(agent, 'SIGSTOP')
  try {
    const work = Promise.all([
      client.call('branchDock', { params: { id: docks.source }, body: { name: 'under-way-copy' } }),
      createDock(server, { name: 'under-way-created' }),
      stop(server, docks.stopped),
      client.call('resumeDock', { params: { id: docks.resumed }, body: {} }),
      client.call('createTemplate', { body: { dockId: docks.saved, name: template } }),
    ])
    await Promise.race([untilAllBegan(server, docks), work])
    await backUp()
    process.kill(agent, 'SIGCONT')
    const [copy, created] = await work
    return { copy: copy.id, created: created.id }
  } finally {
    process.kill(agent, 'SIGCONT')
  }
}

const untilAllBegan = async (server: Server, docks: UnderWay): Promise<void> => {
  const { client } = server
  const isSaving = async (id: string): Promise<boolean> =>
    (await client.call('listDockSnapshots', { params: { id }, query: {} })).snapshots.some(
      ({ status }) => status === 'saving',
    )
  const stateOf = async (id: string) => (await client.call('readDock', { params: { id } })).state
  for (;;) {
    const listed: Dock[] = await client.call('listDocks', { query: { filter: 'p' } })
    const began =
      listed.some(({ name }) => name === 'under-way-created') &&
      (await stateOf(docks.stopped)) === 'archiving' &&
      (await stateOf(docks.resumed)) === 'provisioning' &&
      (await isSaving(docks.source)) &&
      (await isSaving(docks.saved))
    if (began) return
    await pause(100)
  }
}

type News = { copy: string; created: string }

/** Changes the Docks in the lost time. */
export async function goOn(server: Server, docks: UnderWay, { copy, created }: News): Promise<void> {
  await untilState(server, docks.stopped, ['archived'])
  await resume(server, docks.stopped)
  for (const id of [docks.resumed, copy]) await untilItRuns(server, id)
  for (const id of [docks.stopped, docks.resumed, copy, created]) await write(server, id, 'lost-time')
  // Captures the branch after its boot, so that its start is no longer the last command that the host received.
  await server.client.call('createTemplate', { body: { dockId: copy, name: 'later' } })
  await stop(server, created)
  await untilState(server, created, ['archived'])
  await resume(server, created)
}

/** Checks that the restored instance has lost nothing. */
export async function expectNothingLost(
  server: Server,
  docks: UnderWay,
  { copy, created }: News,
  expect: (holds: boolean, what: string) => void,
): Promise<void> {
  const { client, admin } = server
  for (const [id, what] of [
    [docks.stopped, 'a Dock whose stop was running, and that was resumed since'],
    [docks.resumed, 'a Dock whose resume was running'],
    [copy, 'a Dock that was being branched from another'],
  ] as const) {
    await untilItRuns(server, id)
    const found = await words(server, id)
    expect(found === 'before lost-time', `${what} keeps running: ${found}`)
  }
  const { organizationId } = admin
  const { status } = await client.call('readTemplate', {
    params: { name: template },
    query: { organizationId },
  })
  expect(status === 'ready', `a Template that was being saved is ${status}`)
  await untilState(server, created, ['error'], 120_000)
  await stop(server, created)
  await untilState(server, created, ['archived'])
  await resume(server, created)
  const found = await words(server, created)
  expect(found === 'lost-time', `a Dock whose create was running works again after a stop: ${found}`)
}
