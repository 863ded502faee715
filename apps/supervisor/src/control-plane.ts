/** How the control plane and PostgreSQL are started: as user `dock`, inside the view. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '@dock/embedded-postgres'
import type { Identity } from '@dock/foundation'
import type { Program, Running } from './running.ts'
import type { Settings } from './settings.ts'
import type { View } from './view.ts'

const user = 'dock'

/**
 * Flags of Node for the control plane. V8's own bound for the young generation is eight times as large. It serves no more
 * requests a second, and takes 35 MiB more at the start and 100 under load.
 */
export const controlPlaneFlags = ['--max-semi-space-size=8', '--enable-source-maps'] as const

/** Returns uid and gid of the system user `dock`. Throws if script/bootstrap has not created it. */
export async function readIdentity(): Promise<Identity> {
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name === user) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(`There is no system user '${user}'. Create it with: script/bootstrap`)
}

/** Starts the private PostgreSQL cluster. Its socket is in the control folder. */
export function startDatabase(
  settings: Settings,
  view: View,
  identity: Identity,
): Promise<Running & { url: string }> {
  return startPostgres({
    dataDir: join(view.controlDir, 'pg'),
    socketDir: join(view.controlDir, 'run'),
    ...identity,
    logPath: join(settings.dataDir, 'logs/postgres.log'),
  })
}

/**
 * The control plane as a program of the supervisor. `sockets` are listening sockets that the supervisor holds; without an
 * `sshFd`, the SSH gateway is off. The address
 * of the database is passed in the environment, where other users cannot read it.
 */
export function controlPlaneProgram(
  settings: Settings,
  view: View,
  identity: Identity,
  databaseUrl: string,
  sockets: readonly [publicFd: number, rootFd: number, sshFd?: number] | undefined,
): Program {
  const [, , sshFd] = sockets ?? []
  return {
    command: [
      'setpriv',
      ...['--reuid', String(identity.uid), '--regid', String(identity.gid), '--clear-groups'],
      ...['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all', '--'],
      view.node,
      ...controlPlaneFlags,
      view.controlPlane,
    ],
    cwd: view.checkoutDir,
    environment: {
      ...settings.environment,
      HOME: view.controlDir,
      NODE_ENV: 'production',
      NODE_COMPILE_CACHE: view.compiledDir,
      PORT: String(settings.port),
      DOCK_BIND: settings.bind,
      DOCK_CONTROL_DIR: view.controlDir,
      DATABASE_URL: databaseUrl,
      ...(settings.plans === undefined ? {} : { DOCK_PLANS: settings.plans }),
      ...(sockets ? { DOCK_LISTEN_FD: '3', DOCK_ROOT_LISTEN_FD: '4' } : {}),
      ...(sshFd === undefined || !settings.ssh
        ? { DOCK_SSH_PORT: 'off' }
        : { DOCK_SSH_PORT: String(settings.ssh.port), DOCK_SSH_LISTEN_FD: '5' }),
    },
    ...(sockets ? { descriptors: sockets.filter((fd) => fd !== undefined) } : {}),
    logPath: join(settings.dataDir, 'logs/control-plane.log'),
    pidPath: join(settings.dataDir, 'run/control-plane.pid'),
    stopSignal: 'SIGTERM',
    stopPatienceMs: 20_000,
  }
}
