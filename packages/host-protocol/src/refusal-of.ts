/** Parses an agent's unsuccessful response. */
import { HostRefused } from './link-errors.ts'
import { agentError } from './messages.ts'

/** Returns an {@link HostRefused} for a response that is not 2xx. An unreadable body yields the code `failed`. */
export function refusalOf(status: number, body: string): HostRefused {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    parsed = undefined
  }
  const refusal = agentError.safeParse(parsed)
  return refusal.success
    ? new HostRefused(refusal.data.code, refusal.data.message)
    : new HostRefused('failed', `the host responded with status ${status}`)
}
