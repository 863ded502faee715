/** Checks that a response has a documented status and code, and the shape of the contract. */
import { errorCodesByStatus, type Route, type RouteName, routes } from '@dock/contract'
import * as z from 'zod'

export type Verdict = { ok: true } | { ok: false; why: string }

const failure = z.strictObject({ ok: z.literal(false), code: z.string(), message: z.string().min(1) })

const leaks =
  /node_modules|\.ts:\d+|at async |ECONN|select .* from|insert into|violates|syntax error at|invalid input syntax/i

const wrong = (why: string): Verdict => ({ ok: false, why })

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const judgeFailure = (route: Route, status: number, text: string): Verdict => {
  const parsed = failure.safeParse(parseJson(text))
  if (!parsed.success) return wrong(`not a failure envelope: ${text.slice(0, 200)}`)
  const { code, message } = parsed.data
  if (code === 'internal_error') return wrong('internal_error')
  if (
    !errorCodesByStatus(route)
      .get(status)
      ?.some((listed) => listed === code)
  )
    return wrong(`${status} ${code} is not listed`)
  return leaks.test(message) ? wrong(`reveals internals: ${message}`) : { ok: true }
}

/** Checks a response of a route by its status, headers and body. */
export function judge(name: RouteName, status: number, headers: Headers, text: string): Verdict {
  const route: Route = routes[name]
  if (!headers.has('x-request-id')) return wrong('has no request id')
  if (status >= 400) return judgeFailure(route, status, text)
  if (status !== (route.status ?? 200)) return wrong(`status ${status} is not documented`)
  if (route.responseKind === 'raw') return { ok: true }
  const body = z.strictObject({ ok: z.literal(true), data: route.response }).safeParse(parseJson(text))
  return body.success
    ? { ok: true }
    : wrong(`breaks its schema: ${z.prettifyError(body.error).slice(0, 300)}`)
}
