/** A second host in a test's world. All commands still go to the world's fake host. Tests only. */
import { newUuid } from '@dock/foundation'
import type { TestWorld } from './dock-world.ts'
import { hostFacts, inventoryOf } from './fake-host.ts'

type World = Pick<TestWorld, 'modules'>

/** Registers a second host, which is offline until it reports. Returns its id. */
export async function secondHost({ modules }: World): Promise<string> {
  const hostId = newUuid()
  const joinToken = await modules.enrolment.issueJoinToken()
  await modules.enrolment.register({ joinToken, hostId, facts: hostFacts() }, '127.0.0.2')
  return hostId
}

/** Registers a second host that is online and has no Docks or captures. Returns its id. */
export async function secondHostOnline(world: World): Promise<string> {
  const hostId = await secondHost(world)
  await world.modules.hostEvents.handle(hostId, inventoryOf())
  return hostId
}
