/** A control plane with one simulated host, which responds immediately and has room for the Docks of every test. */

import { newUuid } from '@dock/foundation'
import { createFakeHost, type FakeHost, hostFacts, inventoryOf } from './docks/fake-host.ts'
import {
  startTestControlPlane,
  type TestControlPlane,
  type TestControlPlaneOptions,
} from './test-control-plane.ts'

export type ControlPlaneWithHost = TestControlPlane & {
  host: FakeHost
  /** Creates a Dock of the first person, waits until it is ready, and returns its id. */
  addDock(): Promise<string>
}

/** Limits that no test reaches, unless it sets its own. */
const highLimits = {
  DOCK_LIMIT_DOCKS: '10000',
  DOCK_LIMIT_CPUS: '1000000',
  DOCK_LIMIT_MEMORY_MIB: '1000000000',
  DOCK_LIMIT_DISK_GIB: '1000000000',
}

/** Starts the control plane. Call `stop` at the end, as with {@link startTestControlPlane}. */
export async function startControlPlaneWithHost(
  options: Omit<TestControlPlaneOptions, 'hostGateway'> & {
    /** For tests that generate requests: processes in Docks can change nothing on this machine. */
    confinesProcesses?: boolean
  } = {},
): Promise<ControlPlaneWithHost> {
  const hostId = newUuid()
  const host = createFakeHost(hostId)
  host.connections.confinesProcesses = options.confinesProcesses ?? false
  const server = await startTestControlPlane({
    ...options,
    environment: { ...highLimits, ...options.environment },
    limits: { environments: 10_000, workspaces: 10_000, ...options.limits },
    hostGateway: host,
  })
  const { enrolment, hostEvents } = server.controlPlane.docks
  const facts = hostFacts({
    maxDocks: 10_000,
    vcpuTotal: 64,
    memTotalBytes: 2 ** 40,
    diskTotalBytes: 2 ** 50,
  })
  await enrolment.register({ joinToken: await enrolment.issueJoinToken(), hostId, facts }, '127.0.0.1')
  const report = () =>
    hostEvents.handle(
      hostId,
      inventoryOf({
        facts,
        pressure: { memAvailableBytes: facts.memTotalBytes, diskFreeBytes: facts.diskTotalBytes },
        runtimes: [...host.sandboxes.values()],
        captures: [...host.captures],
      }),
    )
  await report()
  // Sends heartbeats like an agent, so that the host never counts as silent.
  const heartbeat = setInterval(() => void report().catch(() => undefined), 1_000)
  return {
    ...server,
    host,
    addDock: async () => {
      // If the test has advanced the clock, the host counts as silent until it reports.
      await report()
      const body = { workspaceId: server.admin.workspaceId }
      const answer = await server.call('POST', '/v1/docks', body)
      if (answer.status !== 201) throw new Error(`could not create a Dock: ${JSON.stringify(answer.body)}`)
      return (answer.body.data as { id: string }).id
    },
    stop: async () => {
      clearInterval(heartbeat)
      await server.stop()
    },
  }
}
