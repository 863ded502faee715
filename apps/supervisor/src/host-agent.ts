/**
 * How the host agent is started and stopped: as root. Its launcher starts in the machine's own mount namespace, and pins one
 * for the agent.
 */
import { join } from 'node:path'
import { runCommand, tryCommand } from '@dock/foundation'
import { inOuterNamespace } from './outer-namespace.ts'
import type { Program } from './running.ts'
import type { Settings } from './settings.ts'

/** Environment variables for the agent. Settings of the control plane that hold secrets are left out. */
const passedOn =
  /^(PATH|LANG|LC_ALL|TZ|LOG_LEVEL|NODE_(?:OPTIONS|COMPILE_CACHE(?:_PORTABLE)?)|NODE_EXTRA_CA_CERTS|DOCK_(?!ADMIN_|SECRET_KEYS|AUTH_SECRET).*)$/

/** Returns the API's address on this machine. If the control plane listens on all addresses, that is the loopback. */
export function publicUrl(settings: Settings): string {
  const everywhere = ['0.0.0.0', '::', '']
  const address = everywhere.includes(settings.bind) ? '127.0.0.1' : settings.bind
  return `http://${address.includes(':') ? `[${address}]` : address}:${settings.port}`
}

/** Returns the address for root's own programs. No other user can take over this address. */
export function controlUrl(settings: Settings): string {
  return `unix:${settings.rootSocket}`
}

/** The agent as a program of the supervisor. A graceful stop also ends the sandboxes; their disks are kept. */
export function hostAgentProgram(settings: Settings): Program {
  const environment = Object.fromEntries(
    Object.entries(settings.environment).filter(([name]) => passedOn.test(name)),
  )
  // script/server has put a working runsc into the host folder; the agent uses that one.
  delete environment['DOCK_RUNSC']
  return {
    command: inOuterNamespace([join(settings.checkout, 'apps/host-agent/launch')]),
    cwd: settings.checkout,
    environment: {
      ...environment,
      DOCK_NODE: process.execPath,
      DOCK_HOST_DIR: settings.hostDir,
      DOCK_CONTROL_URL: controlUrl(settings),
    },
    logPath: join(settings.dataDir, 'logs/host-agent.log'),
    pidPath: join(settings.dataDir, 'run/host-agent.pid'),
    stopSignal: 'SIGUSR2',
    stopPatienceMs: 90_000,
  }
}

const poolDir = (settings: Settings): string => join(settings.hostDir, 'pool')

const runOutside = (command: readonly string[], environment: NodeJS.ProcessEnv = process.env) => {
  const [program, ...args] = inOuterNamespace(command)
  return tryCommand(program, args, { env: environment })
}

/** Removes the agent's pinned namespace and unmounts the pool, after the agent has stopped. Throws if that fails. */
export async function cleanUpHost(settings: Settings): Promise<void> {
  await runOutside([join(settings.checkout, 'apps/host-agent/unpin')], {
    ...process.env,
    DOCK_HOST_DIR: settings.hostDir,
  })
  if ((await runOutside(['mountpoint', '-q', poolDir(settings)])).code !== 0) return
  const [program, ...args] = inOuterNamespace(['umount', poolDir(settings)])
  await runCommand(program, args)
}
