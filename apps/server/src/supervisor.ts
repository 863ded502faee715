/**
 * Starts PostgreSQL, control plane and host agent in this order, keeps each running, and ends them in the reverse
 * order. What an earlier supervisor left is ended first; sandboxes stay and are adopted by the next agent.
 */
import { chown, copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@dock/foundation'
import { checkPort } from './check-port.ts'
import { controlPlaneProgram, readIdentity, startDatabase } from './control-plane.ts'
import { makeFirstDock } from './first-dock.ts'
import { greeting } from './greeting.ts'
import { cleanUpHost, controlUrl, hostAgentProgram } from './host-agent.ts'
import { type Kept, keepRunning } from './keep-running.ts'
import { endProcess, readPidFile } from './process-identity.ts'
import { type Admin, askHealth, askHostOnline, readAdmin, waitUntil } from './readiness.ts'
import { type Program, startProgram } from './running.ts'
import type { Settings } from './settings.ts'
import { makeView, removeView } from './view.ts'

export type Supervisor = { start(): Promise<void>; stop(): Promise<void> }

const healthTimeoutMs = 60_000
const hostTimeoutMs = 60_000
const leftoverPatienceMs = 20_000
/** A process that ended this often in a row while we wait for it will not come. */
const failuresMax = 4

const prepareFolders = async (settings: Settings, identity: { uid: number; gid: number }): Promise<void> => {
  for (const name of ['logs', 'run'])
    await mkdir(join(settings.dataDir, name), { recursive: true, mode: 0o700 })
  await mkdir(settings.controlDir, { recursive: true, mode: 0o700 })
  await chown(settings.controlDir, identity.uid, identity.gid)
  for (const name of ['run', 'outbox', 'keys']) {
    await mkdir(join(settings.controlDir, name), { recursive: true, mode: 0o700 })
    await chown(join(settings.controlDir, name), identity.uid, identity.gid)
  }
}

/**
 * Copies admin.json up to the data folder; under sudo it belongs to the person who called. A control plane that is
 * healthy has written it, so one that is missing is gone with its person, and the copy goes too.
 */
const publishAdmin = async (settings: Settings, path: string): Promise<Admin | undefined> => {
  const source = join(settings.controlDir, 'admin.json')
  const admin = await readAdmin(source)
  if (!admin) {
    await rm(path, { force: true })
    return undefined
  }
  await copyFile(source, `${path}.new`)
  const { SUDO_UID, SUDO_GID } = process.env
  if (SUDO_UID && SUDO_GID) await chown(`${path}.new`, Number(SUDO_UID), Number(SUDO_GID))
  await rename(`${path}.new`, path)
  return admin
}

/** The supervisor of one data folder. `say` prints a line for the person; `startedAt` is when script/server began. */
export const createSupervisor = (
  settings: Settings,
  startedAt: number,
  say: (text: string) => void,
): Supervisor => {
  const kept: Kept[] = []
  let stopping = false
  let lastStart: Promise<unknown> = Promise.resolve()

  const keep = async (
    name: string,
    logName: string,
    start: Parameters<typeof keepRunning>[1],
  ): Promise<Kept> => {
    if (stopping) throw new Error('stopped while starting')
    const report = (text: string): void => say(`${text}; see ${join(settings.dataDir, 'logs', logName)}`)
    const starting = keepRunning(name, start, systemClock, report).then((process) => {
      kept.unshift(process)
      return process
    })
    lastStart = starting.catch(() => undefined)
    return await starting
  }
  const hopeless = (name: string, logName: string, process: Kept) => (): string | undefined => {
    if (stopping) return 'stopped while starting'
    return process.failures() >= failuresMax
      ? `${name} ends again and again; ${join(settings.dataDir, 'logs', logName)} says why`
      : undefined
  }
  const endLeftover = async (program: Program): Promise<void> => {
    const leftover = await readPidFile(program.pidPath)
    if (leftover) await endProcess(leftover, leftoverPatienceMs)
  }

  /** No reason to end: a disk that is full is made room on through a server that runs. */
  const tellNoFirstDock = (error: unknown): undefined => {
    if (stopping) throw error
    say(`The first Dock could not be made; the next start tries again. ${String(error)}`)
  }

  const start = async (): Promise<void> => {
    const identity = await readIdentity()
    await prepareFolders(settings, identity)
    const view = await makeView(settings, identity)
    const baseUrl = controlUrl(settings)
    let databaseUrl = settings.databaseUrl ?? ''
    const programOf = () => controlPlaneProgram(settings, view, identity, databaseUrl)
    const agentProgram = hostAgentProgram(settings)
    await endLeftover(programOf())
    await checkPort(settings.bind, settings.port)

    if (settings.databaseUrl === undefined) {
      await keep('PostgreSQL', 'postgres.log', async () => {
        const database = await startDatabase(settings, view, identity)
        databaseUrl = database.url
        return database
      })
    }
    const controlPlane = await keep('The control plane', 'control-plane.log', () => startProgram(programOf()))
    const controlHopeless = hopeless('the control plane', 'control-plane.log', controlPlane)
    await waitUntil(
      'The control plane is not healthy',
      () => askHealth(baseUrl),
      healthTimeoutMs,
      controlHopeless,
    )
    const adminPath = join(settings.dataDir, 'admin.json')
    const admin = await publishAdmin(settings, adminPath)

    if (settings.embeddedHost) {
      await endLeftover(agentProgram)
      const agentStartedAt = Date.now()
      const agent = await keep('The host agent', 'host-agent.log', () => startProgram(agentProgram))
      const agentHopeless = hopeless('the host agent', 'host-agent.log', agent)
      await waitUntil(
        'The host is not online',
        () => askHostOnline(baseUrl, admin, agentStartedAt),
        hostTimeoutMs,
        agentHopeless,
      )
    }
    const startedInMs = Date.now() - startedAt
    const firstDock =
      settings.embeddedHost && admin
        ? await makeFirstDock(baseUrl, admin, settings.dataDir).catch(tellNoFirstDock)
        : undefined
    say(greeting({ baseUrl, admin, adminPath, firstDock, startedInMs }))
  }

  const stop = async (): Promise<void> => {
    stopping = true
    // What is just being started is ended too, not left behind.
    await lastStart
    const failures: unknown[] = []
    for (const process of kept) await process.stop().catch((error: unknown) => failures.push(error))
    if (settings.embeddedHost) await cleanUpHost(settings).catch((error: unknown) => failures.push(error))
    await removeView(settings)
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'))
  }
  return { start, stop }
}
