/** A second host in a test's world. All commands still go to the world's fake host. Tests only. */
import type { HostFacts } from '@dock/control-plane/src/modules/hosts/index.ts'
import { newUuid } from '@dock/foundation'
import type { TestWorld } from './dock-world.ts'
import { hostFacts, inventoryOf } from './fake-host.ts'

type World = Pick<TestWorld, 'modules'>

/** Registers a second host, which is offline until it reports. Returns its id. */
export async function secondHost({ modules }: World, facts: Partial<HostFacts> = {}): Promise<string> {
  const hostId = newUuid()
  const joinToken = await modules.enrolment.issueJoinToken()
  await modules.enrolment.register({ joinToken, hostId, facts: hostFacts(facts) }, '127.0.0.2')
  return hostId
}

/** Registers a second host that is online and has no Docks or captures. Returns its id. */
export async function secondHostOnline(world: World, facts: Partial<HostFacts> = {}): Promise<string> {
  const hostId = await secondHost(world, facts)
  await world.modules.hostEvents.handle(hostId, inventoryOf({ facts: hostFacts(facts) }))
  return hostId
}
