/** One command of a tenant, under a login bash as the Dock user. Beside the Dock's queue: it changes no state. */
import type { ExecInDock, ExecOutcome } from '@dock/host-protocol'
import { AgentRefusal } from './agent-refusal.ts'
import type { DockState } from './dock-state.ts'

/** Commands of one Dock that may run at once. */
export const execsInFlightMax = 4

const dockUser = { uid: 1000, gid: 1000, name: 'user', home: '/home/user' }

const userEnvironment = {
  HOME: dockUser.home,
  USER: dockUser.name,
  LOGNAME: dockUser.name,
  SHELL: '/bin/bash',
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  TERM: 'dumb',
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Runs the command to its end or its timeout; refused with `busy` while {@link execsInFlightMax} run. */
export const execInDock = async (dock: DockState, request: ExecInDock): Promise<ExecOutcome> => {
  const generation = dock.record?.generation ?? 0
  if (request.generation < generation) {
    throw new AgentRefusal('stale_generation', `the Dock is at generation ${generation}`)
  }
  const { live } = dock
  if (!live || dock.record?.phase !== 'running' || request.generation !== generation) {
    throw new AgentRefusal('not_running', 'the Dock has no running sandbox of this generation here')
  }
  if (dock.execsInFlight >= execsInFlightMax) {
    throw new AgentRefusal('busy', `${execsInFlightMax} commands are under way`)
  }
  dock.execsInFlight += 1
  try {
    const result = await dock.parts.driver.exec(live, {
      argv: ['/bin/bash', '-lc', request.command],
      env: { ...userEnvironment, ...request.env },
      cwd: request.cwd,
      uid: dockUser.uid,
      gid: dockUser.gid,
      timeoutMs: request.timeoutMs,
      outputLimitBytes: request.outputLimitBytes,
    })
    const { exitCode, durationMs, truncated, timedOut } = result
    return {
      ...{ exitCode, durationMs, truncated, timedOut },
      stdout: decoder.decode(result.stdout),
      stderr: decoder.decode(result.stderr),
    }
  } finally {
    dock.execsInFlight -= 1
  }
}
