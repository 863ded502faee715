/** Checks that an agent sends exactly what the host protocol names. Tests only. */
import { lastLine, type Route, routes } from '@dock/host-protocol'
import { checkStrictly } from '../strictly.ts'

type Fetch = (request: Request) => Response | Promise<Response>

const patterns = Object.entries<Route>(routes).map(([name, route]) => ({
  name,
  route,
  pattern: new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`),
}))

/** Returns a stream of the same bytes, which fails at the first line that is not exactly in the protocol. */
const checkedLines = (body: ReadableStream<Uint8Array>, check: (line: unknown) => void) => {
  let held = ''
  const decoder = new TextDecoder()
  const lines = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, controller) => {
      const pieces = (held + decoder.decode(bytes, { stream: true })).split('\n')
      held = pieces.pop() ?? ''
      for (const line of pieces) check(JSON.parse(line))
      controller.enqueue(bytes)
    },
  })
  return body.pipeThrough(lines)
}

/** Returns `fetch` with a check of every answer that is not a refusal. */
export function checkTraffic(fetch: Fetch): Fetch {
  return async (request) => {
    const response = await fetch(request)
    const { pathname } = new URL(request.url)
    const found = patterns.find(
      ({ route, pattern }) => route.method === request.method && pattern.test(pathname),
    )
    const { answer, kind } = found?.route ?? {}
    if (!response.ok || !answer || !response.body) return response
    const what = `the agent's answer to ${found?.name}`
    if (kind === 'json' || kind === 'upload') {
      checkStrictly(answer, await response.clone().json(), what)
      return response
    }
    const isLast = (line: unknown): boolean => kind === 'lines' && lastLine.safeParse(line).success
    const body = checkedLines(response.body, (line) => isLast(line) || checkStrictly(answer, line, what))
    return new Response(body, response)
  }
}
