/** Parses an agent's unsuccessful response. */
import { AgentRefusal } from './link-errors.ts'
import { agentError } from './messages.ts'

/** Returns an {@link AgentRefusal} for a response that is not 2xx. An unreadable body yields the code `failed`. */
export function refusalOf(status: number, body: string): AgentRefusal {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    parsed = undefined
  }
  const refusal = agentError.safeParse(parsed)
  return refusal.success
    ? new AgentRefusal(refusal.data.code, refusal.data.message, status)
    : new AgentRefusal('failed', `the host responded with status ${status}`, status)
}
