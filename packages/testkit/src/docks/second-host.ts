/** Another host of a test's world, beside the fake one that every call goes to. Tests only. */
import { newUuid } from '@dock/foundation'
import type { TestWorld } from './dock-world.ts'
import { hostFacts, inventoryOf } from './fake-host.ts'

type World = Pick<TestWorld, 'modules'>

/** Registered, and offline until it reports. */
export async function secondHost({ modules }: World): Promise<string> {
  const hostId = newUuid()
  const joinToken = await modules.enrolment.issueJoinToken()
  await modules.enrolment.register({ joinToken, hostId, facts: hostFacts() }, '127.0.0.2')
  return hostId
}

/** Online: it has reported, and keeps nothing. */
export async function secondHostOnline(world: World): Promise<string> {
  const hostId = await secondHost(world)
  await world.modules.hostEvents.handle(hostId, inventoryOf())
  return hostId
}
