/** A control plane with one simulated host that answers at once and has room for every test's Docks. */

import { newUuid } from '@dock/foundation'
import { createFakeHost, type FakeHost, hostFacts, inventoryOf } from './docks/fake-host.ts'
import {
  type TestControlPlane,
  type TestControlPlaneOptions,
  testControlPlane,
} from './test-control-plane.ts'

export type ControlPlaneWithHost = TestControlPlane & {
  host: FakeHost
  /** A new ready Dock of the first person's. */
  addDock(): Promise<string>
}

/** No test is about the limits of organizations unless it sets them. */
const roomForAll = {
  DOCK_LIMIT_DOCKS: '10000',
  DOCK_LIMIT_CPUS: '1000000',
  DOCK_LIMIT_MEMORY_MIB: '1000000000',
  DOCK_LIMIT_DISK_GIB: '1000000000',
  DOCK_LIMIT_ENVIRONMENTS: '10000',
}

/** Ends with `stop`, as {@link testControlPlane}. */
export async function controlPlaneWithHost(
  options: Omit<TestControlPlaneOptions, 'hostGateway'> = {},
): Promise<ControlPlaneWithHost> {
  const hostId = newUuid()
  const host = createFakeHost(hostId)
  const server = await testControlPlane({
    ...options,
    environment: { ...roomForAll, ...options.environment },
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
  // As an agent does, so that the host is never taken for silent.
  const heartbeat = setInterval(() => void report().catch(() => undefined), 1_000)
  return {
    ...server,
    host,
    addDock: async () => {
      // A test that drove the clock has made the host silent.
      await report()
      const body = { workspaceId: server.admin.workspaceId }
      const answer = await server.call('POST', '/v1/docks', body)
      if (answer.status !== 201) throw new Error(`no Dock: ${JSON.stringify(answer.body)}`)
      return (answer.body.data as { id: string }).id
    },
    stop: async () => {
      clearInterval(heartbeat)
      await server.stop()
    },
  }
}
