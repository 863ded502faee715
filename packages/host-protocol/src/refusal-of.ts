/** How an agent's answer that is not a success is read. */
import { AgentRefusal } from './link-errors.ts'
import { agentError } from './messages.ts'

/** An {@link AgentRefusal} from an answer that is not 2xx; one that cannot be read counts as `failed`. */
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
    : new AgentRefusal('failed', `the host answered ${status}`, status)
}
