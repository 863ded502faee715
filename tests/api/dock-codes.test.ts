/** Triggers every error code that the contract lists for a Dock route over HTTP, or states why that is impossible. */
import { type ErrorCode, errorCodes, routes } from '@dock/contract'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessTriggers } from './support/codes/access-triggers.ts'
import { createFixture } from './support/codes/create-fixture.ts'
import type { Fixture, Trigger, Triggers } from './support/codes/fixture.ts'
import { lifecycleTriggers } from './support/codes/lifecycle-triggers.ts'

const triggers: Triggers = { ...lifecycleTriggers, ...accessTriggers }

/** Codes that need a setting of the operator. */
const settings: Partial<Record<ErrorCode, Record<string, string>>> = {
  subscription_required: { DOCK_BILLING: 'on' },
  concurrency_exceeded: { DOCK_BILLING: 'on' },
  budget_exceeded: { DOCK_BILLING: 'on' },
  ports_unavailable: { PORTS_DOMAIN: 'off' },
}

const servers = new Map<string, Promise<{ server: ControlPlaneWithHost; port: number }>>()
const serverFor = (code: ErrorCode) => {
  const environment = settings[code] ?? {}
  const name = JSON.stringify(environment)
  const known = servers.get(name)
  const started =
    known ??
    startControlPlaneWithHost({ environment }).then(async (server) => ({
      server,
      port: (await server.listen()).port,
    }))
  servers.set(name, started)
  return started
}
beforeAll(() => serverFor('validation_error'))
afterAll(async () => {
  for (const started of servers.values()) await (await started).server.stop()
})

const fixtureFor = async (code: ErrorCode): Promise<Fixture> => {
  const { server, port } = await serverFor(code)
  return createFixture(server, port)
}

describe.each(Object.entries(triggers))('%s', (name, codes: Readonly<Record<string, Trigger>>) => {
  const listed: readonly ErrorCode[] = routes[name as keyof Triggers].errors

  it('has a trigger for each of its codes, and for no other', () => {
    expect(Object.keys(codes).sort()).toEqual([...listed].sort())
  })

  const triggerable = listed.flatMap((code) => {
    const trigger = codes[code]
    return typeof trigger === 'function' ? [{ code, trigger }] : []
  })
  it.for(triggerable)('responds with $code', async ({ code, trigger }) => {
    const { status, code: answered } = await trigger(await fixtureFor(code))
    expect({ status, code: answered }).toEqual({ status: errorCodes[code].status, code })
  })
})
