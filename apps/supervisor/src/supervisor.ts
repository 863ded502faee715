/**
 * Starts PostgreSQL, control plane and host agent in this order, keeps them running, and stops them in reverse order. At
 * the start it first ends processes of an earlier supervisor. Sandboxes stay and are adopted by the next agent.
 */
import { closeSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type Identity,
  listMailNotices,
  makeOwnFolder,
  requireOwnFolder,
  rotateLogs,
  systemClock,
} from '@dock/foundation'
import { controlPlaneProgram, readIdentity, startDatabase } from './control-plane.ts'
import { lastFatalMessage } from './fatal-message.ts'
import { makeFirstDock } from './first-dock.ts'
import { greeting } from './greeting.ts'
import { cleanUpHost, controlUrl, hostAgentProgram, publicUrl } from './host-agent.ts'
import { type Kept, keepRunning } from './keep-running.ts'
import { listenForSsh, sshCommand } from './listen-for-ssh.ts'
import { listenForRoot, listenOnPort } from './listening-sockets.ts'
import { endProcess, readPidFile } from './process-identity.ts'
import { type Admin, askHealth, askHostOnline, readAdmin, waitUntil } from './readiness.ts'
import { type Program, startProgram } from './running.ts'
import type { Settings } from './settings.ts'
import { makeView, removeView } from './view.ts'

export type Supervisor = { start(): Promise<void>; stop(): Promise<void> }

const healthTimeoutMs = 60_000
const hostTimeoutMs = 60_000
const logBytesMax = 128 * 2 ** 20
const leftoverPatienceMs = 20_000
/** Give up waiting for a process that has ended this many times in a row. */
const failuresMax = 4

/** The control plane can write to its folder, so root creates nothing in it and follows no links: it checks and refuses. */
const prepareFolders = async (settings: Settings, identity: Identity): Promise<void> => {
  for (const name of ['logs', 'run'])
    await mkdir(join(settings.dataDir, name), { recursive: true, mode: 0o700 })
  await makeOwnFolder(settings.controlDir, identity)
  for (const name of ['run', 'outbox', 'keys', 'pg', 'pg.new', 'objects'])
    await requireOwnFolder(join(settings.controlDir, name), identity)
}

/**
 * Copies admin.json to the data folder. Under sudo the copy belongs to the calling user. A healthy control plane has written
 * the file, so if it is missing, the first admin is erased, and the copy is removed too.
 */
const publishAdmin = async (
  settings: Settings,
  identity: Identity,
  path: string,
): Promise<Admin | undefined> => {
  const admin = await readAdmin(join(settings.controlDir, 'admin.json'), identity)
  if (!admin) {
    await rm(path, { force: true })
    return undefined
  }
  await rm(`${path}.new`, { force: true })
  const file = await open(`${path}.new`, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(admin, null, 2)}\n`)
    const { SUDO_UID, SUDO_GID } = process.env
    if (SUDO_UID && SUDO_GID) await file.chown(Number(SUDO_UID), Number(SUDO_GID))
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
  return admin
}

/** Creates the supervisor of a data folder. `say` prints a line; `startedAt` (epoch ms) is when script/server started. */
export function createSupervisor(
  settings: Settings,
  startedAt: number,
  say: (text: string) => void,
): Supervisor {
  const kept: Kept[] = []
  let stopping = false
  let lastStart: Promise<unknown> = Promise.resolve()
  let endRotation: () => void = () => undefined
  let sockets: [publicFd: number, rootFd: number, sshFd?: number] | undefined

  const closeSockets = async (): Promise<void> => {
    for (const descriptor of sockets ?? []) if (descriptor !== undefined) closeSync(descriptor)
    sockets = undefined
    await rm(dirname(settings.rootSocket), { recursive: true, force: true })
  }

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
  const reasonToGiveUp = (name: string, logName: string, process: Kept) => (): string | undefined => {
    if (stopping) return 'stopped while starting'
    if (process.failures() < failuresMax) return undefined
    const path = join(settings.dataDir, 'logs', logName)
    const message = lastFatalMessage(path, startedAt)
    return message
      ? `${name} does not start: ${message} (more in ${path})`
      : `${name} ends repeatedly; ${path} says why`
  }
  const endLeftover = async (program: Program): Promise<void> => {
    const leftover = await readPidFile(program.pidPath)
    if (leftover) await endProcess(leftover, leftoverPatienceMs)
  }

  /** Keep running: users need a live server to free a full disk. */
  const reportNoFirstDock = (error: unknown): undefined => {
    if (stopping) throw error
    say(`Could not create the first Dock; the next start tries again. ${String(error)}`)
  }

  const start = async (): Promise<void> => {
    const identity = await readIdentity()
    await prepareFolders(settings, identity)
    const logs = ['postgres', 'control-plane', 'host-agent']
    endRotation = rotateLogs(
      logs.map((name) => join(settings.dataDir, `logs/${name}.log`)),
      logBytesMax,
      say,
    )
    const view = await makeView(settings, identity)
    const [baseUrl, address] = [publicUrl(settings), controlUrl(settings)]
    let databaseUrl = settings.databaseUrl ?? ''
    const programOf = (sockets?: [number, number, number?]) =>
      controlPlaneProgram(settings, view, identity, databaseUrl, sockets)
    const agentProgram = hostAgentProgram(settings)
    await endLeftover(programOf())
    // Listen first and until the end, so that no other program can answer at these addresses.
    sockets = [await listenOnPort(settings.bind, settings.port), await listenForRoot(settings.rootSocket)]
    const ssh = await listenForSsh(settings)
    if (ssh.descriptor !== undefined) sockets.push(ssh.descriptor)

    if (settings.databaseUrl === undefined) {
      await keep('PostgreSQL', 'postgres.log', async () => {
        const database = await startDatabase(settings, view, identity)
        databaseUrl = database.url
        return database
      })
    }
    const controlPlane = await keep('The control plane', 'control-plane.log', () =>
      startProgram(programOf(sockets)),
    )
    // `kept` is in stop order: close the sockets before the control plane stops. The agent has stopped by then.
    kept.unshift({ pid: () => undefined, failures: () => 0, stop: closeSockets })
    const controlPlaneFailed = reasonToGiveUp('the control plane', 'control-plane.log', controlPlane)
    await waitUntil(
      'The control plane is not healthy',
      () => askHealth(address),
      healthTimeoutMs,
      controlPlaneFailed,
    )
    const adminPath = join(settings.dataDir, 'admin.json')
    const admin = await publishAdmin(settings, identity, adminPath)

    if (settings.embeddedHost) {
      await endLeftover(agentProgram)
      const agentStartedAt = Date.now()
      const agent = await keep('The host agent', 'host-agent.log', () => startProgram(agentProgram))
      const agentFailed = reasonToGiveUp('the host agent', 'host-agent.log', agent)
      await waitUntil(
        'The host is not online',
        () => askHostOnline(address, admin, agentStartedAt),
        hostTimeoutMs,
        agentFailed,
      )
    }
    const startedInMs = Date.now() - startedAt
    const firstDock =
      settings.embeddedHost && admin
        ? await makeFirstDock(address, admin, settings.dataDir).catch(reportNoFirstDock)
        : undefined
    const { environment } = settings
    const mailNotices = listMailNotices({
      publicUrl: environment['DOCK_PUBLIC_URL'],
      smtpUrl: environment['SMTP_URL'],
      mailFrom: environment['DOCK_MAIL_FROM'],
    })
    const notices = [...mailNotices, ...ssh.notices]
    const sshAddress = ssh.descriptor === undefined ? null : sshCommand(settings)
    say(greeting({ baseUrl, admin, adminPath, firstDock, startedInMs, notices, sshAddress }))
  }

  const stop = async (): Promise<void> => {
    stopping = true
    // Wait for a process that is being started, so that it is stopped too.
    await lastStart
    const failures: unknown[] = []
    for (const process of kept) await process.stop().catch((error: unknown) => failures.push(error))
    await closeSockets()
    endRotation()
    if (settings.embeddedHost) await cleanUpHost(settings).catch((error: unknown) => failures.push(error))
    await removeView(settings)
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'))
  }
  return { start, stop }
}
