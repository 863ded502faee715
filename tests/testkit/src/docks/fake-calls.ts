/** The calls of a fake host, made from the table of calls. Tests only. */
import type { HostGateway } from '@dock/control-plane/src/modules/hosts/index.ts'
import { type Route, routes } from '@dock/host-protocol'
import { checkStrictly } from '../strictly.ts'

type Names = keyof HostGateway & keyof typeof routes
export type FakeCalls = Pick<HostGateway, Names>
type AnyCall = (...sent: unknown[]) => unknown

/** Returns the calls. Each throws if what it is sent, or returns, is not exactly in the protocol. One without a fake throws. */
export function fakeCalls(fakes: Partial<FakeCalls>): FakeCalls {
  const calls = Object.entries<Route>(routes).map(([name, route]) => {
    const fake = fakes[name as Names] as AnyCall | undefined
    return [name, fake ? checked(name, route, fake) : missing(name)]
  })
  return Object.fromEntries(calls)
}

const missing = (name: string) => async (): Promise<never> => {
  throw new Error(`the fake host has no call ${name}`)
}

const checked = (name: string, route: Route, fake: AnyCall): AnyCall => {
  const { kind, query, body, answer } = route
  // The gateway completes the request of a process, and collects the chunks of a disk.
  if (kind === 'lines' || name === 'openProcess') return fake
  return async (...sent) => {
    const [, ...given] = sent
    if (query) checkStrictly(query, asText(given.shift()), `the query of ${name}`)
    if (body) checkStrictly(body, given.shift(), `the request of ${name}`)
    const returned = await fake(...sent)
    if (answer) checkStrictly(answer, returned, `the answer of ${name}`)
    return returned
  }
}

/** Returns the query as it arrives at a host. */
const asText = (query: unknown): object =>
  Object.fromEntries(
    Object.entries(query as object).map(([name, value]) => [
      name,
      value === undefined ? value : String(value),
    ]),
  )
