/** Hosts as instance admins see them. The fields are listed one by one, so that credentials never appear. */
import { type DockState, type HostDetail, type HostSummary, ServiceError } from '@dock/contract'
import { isUuid } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { type HostRow, listHostDocks, listHostMachines, listHostRows, readHostRow } from './host-store.ts'
import { listQuarantinedDocks } from './quarantine-store.ts'

const summary = (host: HostRow): HostSummary => ({
  id: host.id,
  address: host.address,
  cpuFamily: host.cpuFamily,
  kernel: host.kernel,
  runtime: host.runtime,
  kernelRelease: host.kernelRelease,
  vcpuTotal: host.vcpuTotal,
  memTotalBytes: host.memTotalBytes,
  diskTotalBytes: host.diskTotalBytes,
  maxDocks: host.maxDocks,
  usedDocks: host.usedDocks,
  runningDocks: host.runningDocks,
  state: host.state,
  lastHeartbeatAt: host.lastHeartbeatAt?.toISOString() ?? null,
  createdAt: host.createdAt.toISOString(),
})

/** Returns all hosts, ordered by id. */
export async function listHosts(db: Db): Promise<HostSummary[]> {
  return (await listHostRows(db)).map(summary)
}

/** Returns one host with its Docks. Throws `host_not_found`. */
export async function readHost(db: Db, id: string): Promise<HostDetail> {
  const host = isUuid(id) ? await readHostRow(db, id) : null
  if (!host) throw new ServiceError('host_not_found')
  const [docks, machines, quarantined] = await Promise.all([
    listHostDocks(db, host.id),
    listHostMachines(db, host.id),
    listQuarantinedDocks(db, host.id),
  ])
  const reported = host.orphans.map(({ dockId, state }) => ({ dockId, state }))
  const isReported = new Set(reported.map(({ dockId }) => dockId))
  const fenced = quarantined.map(({ dockId }) => ({ dockId, state: 'quarantined' }))
  return {
    ...summary(host),
    docks: docks.map((dock) => ({
      id: dock.id,
      name: dock.name,
      state: dock.state as DockState,
      cpus: dock.cpus,
      memoryMiB: dock.memoryMiB,
      diskGiB: dock.diskGiB,
      runtime: dock.runtime,
      ip: dock.ip,
      stateChangedAt: dock.stateChangedAt.toISOString(),
      workspaceName: dock.workspaceName,
      organizationId: dock.organizationId,
      organizationName: dock.organizationName,
    })),
    runs: machines.map(({ dockId, state }) => ({ dockId, state, kind: 'fast' })),
    orphans: [...reported, ...fenced.filter(({ dockId }) => !isReported.has(dockId))],
  }
}

/** Returns the names of the images that online hosts have. */
export async function servedImages(db: Db): Promise<string[]> {
  return [
    ...new Set(
      (await listHostRows(db)).filter((host) => host.state === 'online').flatMap((host) => host.images),
    ),
  ]
}
