/** One typed call of the control plane to an agent. */
import type * as z from 'zod'
import type { AgentLink } from './accept-link.ts'
import { AgentRefusal } from './link-errors.ts'
import { refusalOf } from './refusal-of.ts'

/** `method` is POST unless said; a null `requestSchema` sends no body. */
export type CallOptions = {
  method?: string
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
}

/**
 * Sends `body`, checked, and answers the agent's answer, checked. Throws AgentRefusal when the agent refused (or
 * answered something that is not in the protocol, code `failed`), LinkLost when the connection broke, LinkTimeout
 * when the time ran out.
 */
export async function callAgent<Request extends z.ZodType, Response extends z.ZodType>(
  link: AgentLink,
  path: string,
  requestSchema: Request | null,
  responseSchema: Response,
  body?: z.input<Request>,
  options: CallOptions = {},
): Promise<z.output<Response>> {
  const { method = 'POST', ...rest } = options
  const answer = await link.request(method, path, {
    ...rest,
    ...(requestSchema ? { body: requestSchema.parse(body) } : {}),
  })
  if (answer.status < 200 || answer.status > 299) throw refusalOf(answer.status, answer.body.toString('utf8'))
  const parsed = responseSchema.safeParse(jsonOrUndefined(answer.json))
  if (!parsed.success) {
    throw new AgentRefusal('failed', `the host's answer to ${path} is not in the protocol`, answer.status)
  }
  return parsed.data
}

const jsonOrUndefined = (json: () => unknown): unknown => {
  try {
    return json()
  } catch {
    return undefined
  }
}
