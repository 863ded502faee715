/** POST /v1/hosts/:id/self-test */
import { type HostTest, ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { isUuid } from '@dock/foundation'
import { HostNotLinked, HostRefused, HostUnreachable } from '@dock/host-protocol'
import type { Db } from '../../database/database.ts'
import { type Actor, type AuditRecord, recordAudit } from '../audit/index.ts'
import type { HostGateway } from './host-gateway.ts'
import { readHostRow } from './host-store.ts'
import { readHostVersions } from './host-versions.ts'
import type { WarmPoolKind, WarmPools } from './warm-pools.ts'

export type TestHostNeeds = {
  db: Db
  clock: Pick<Clock, 'now'>
  gateway: Pick<HostGateway, 'testRuntime'>
  warmPools: Pick<WarmPools, 'count'>
  /** What the tested machine is like. A host without its image uses another one. */
  warmPoolKind: WarmPoolKind
}

const explain = (error: unknown): unknown => {
  if (error instanceof HostNotLinked || error instanceof HostUnreachable)
    return new ServiceError('service_unavailable', {
      message: 'The host cannot be reached. Look at its state and its log.',
      cause: error,
    })
  if (!(error instanceof HostRefused)) return error
  if (error.code === 'busy')
    return new ServiceError('conflict', { message: 'Another test of this host runs. Wait for its end.' })
  return new ServiceError('service_unavailable', {
    message: `The test failed: ${error.message}`,
    cause: error,
  })
}

/** Boots a machine on the host, measures it and removes it. Throws `host_not_found`, `conflict`, `service_unavailable`. */
export async function testHost(needs: TestHostNeeds, id: string, by: Actor): Promise<HostTest> {
  const { db, gateway, warmPoolKind } = needs
  const host = isUuid(id) ? await readHostRow(db, id) : null
  if (!host) throw new ServiceError('host_not_found')
  const { images } = await readHostVersions(needs, host.id)
  const { image: usual, ...size } = warmPoolKind
  const image = images.includes(usual) ? usual : images[0]
  if (image === undefined)
    throw new ServiceError('conflict', { message: 'The host has no image yet. Retry once it has one.' })
  const record = (outcome: Pick<AuditRecord, 'outcome' | 'details'>) =>
    recordAudit(db, by, {
      action: 'host.tested',
      now: needs.clock.now(),
      organizationId: null,
      target: { type: 'host', id: host.id },
      ...outcome,
    })
  try {
    const figures = await gateway.testRuntime({ hostId: host.id }, { image, ...size })
    await record({})
    return { hostId: host.id, runtime: host.runtime, image, ...figures }
  } catch (error) {
    const explained = explain(error)
    if (explained instanceof ServiceError)
      await record({ outcome: 'failed', details: { code: explained.code } })
    throw explained
  }
}
