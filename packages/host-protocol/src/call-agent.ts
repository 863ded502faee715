/** Typed calls from the control plane to an agent. */
import type * as z from 'zod'
import type { AgentLink } from './accept-link.ts'
import { HostRefused } from './link-errors.ts'
import { refusalOf } from './refusal-of.ts'

/** `method` defaults to POST. */
export type CallOptions = {
  method?: string
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
}

/**
 * Calls the agent, and validates the request and the response. Sends no body if `requestSchema` is null. Throws
 * HostRefused if the agent refused, or if its response does not match the schema (code `failed`); HostUnreachable if the link
 * broke; LinkTimeout if `timeoutMs` elapsed.
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
    throw new HostRefused('failed', `the host's response to ${path} is not in the protocol`)
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
