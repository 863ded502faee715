/** Requests to the files and processes of a Dock as the fuzz generates them, and what may come back. */
import { type Route, type RouteName, routes } from '@dock/contract'
import { judge } from '../../api/support/fuzz/judge.ts'

export type DockRequest = {
  route: RouteName
  /** The path after `/v1/docks/:id`, with its query. `@pid@` stands for a process of an earlier request. */
  path: string
  headers: Record<string, string>
  body: Buffer | null
  /** The body breaks after this many bytes. Null: it is sent whole. */
  cutAt: number | null
  /** The caller leaves after it has read this many bytes. */
  readMax: number
  /** True if HEAD is asked for. */
  isHead?: boolean
}

/** What happened. `wrong` is null if that is allowed. */
export type Outcome = { status: number | 'left'; wrong: string | null; text: string }

const patienceMs = 60_000

const broken = (bytes: Buffer): ReadableStream<Uint8Array> => {
  let isSent = false
  return new ReadableStream({
    pull: (controller) => {
      if (isSent) return controller.error(new Error('the caller leaves'))
      isSent = true
      if (bytes.length > 0) controller.enqueue(bytes)
    },
  })
}

const readAtMost = async (response: Response, bytesMax: number): Promise<string> => {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of response.body ?? []) {
    pieces.push(piece)
    length += piece.length
    if (length >= bytesMax) break
  }
  return Buffer.concat(pieces).toString('utf8')
}

const verdict = (request: DockRequest, response: Response, text: string): string | null => {
  const { route, headers, isHead } = request
  const { status } = response
  if (isHead) return status === 500 ? 'internal error' : null
  if (headers.range !== undefined && (status === 206 || status === 416)) return null
  // Raw responses and their ends are the Dock's.
  const { responseKind }: Route = routes[route]
  if (responseKind === 'raw' && response.ok) return null
  const judged = judge(route, status, response.headers, text)
  return judged.ok ? null : judged.why
}

/** Sends the request. A response that is cut, or that the caller left, is no fault: the Dock may lie or be slow. */
export async function sendDockRequest(
  base: string,
  apiKey: string,
  request: DockRequest,
  pid: string,
): Promise<Outcome> {
  const { route, headers, body, cutAt, readMax, isHead } = request
  const method = isHead ? 'HEAD' : routes[route].method
  const gone = new AbortController()
  const timer = setTimeout(() => gone.abort(), patienceMs)
  const sent = body !== null && cutAt !== null ? broken(body.subarray(0, cutAt)) : body
  try {
    const response = await fetch(`${base}${request.path.replace('@pid@', pid)}`, {
      ...{ method, signal: gone.signal },
      // A connection of its own: the server may close a kept one at the same moment.
      headers: { authorization: `Bearer ${apiKey}`, connection: 'close', ...headers },
      ...(sent === null ? {} : { body: sent instanceof ReadableStream ? sent : new Uint8Array(sent) }),
      ...({ duplex: 'half' } as object),
    })
    const isShown = response.headers.get('content-type')?.includes('json') === true
    const text = await readAtMost(response, isShown ? 2 ** 22 : readMax).catch(() => '')
    return { status: response.status, wrong: verdict(request, response, text), text }
  } catch (error) {
    if (cutAt !== null) return { status: 'left', wrong: null, text: '' }
    const why = gone.signal.aborted ? 'none in time' : `${error}: ${(error as Error).cause}`
    return { status: 'left', wrong: `no answer: ${why}`, text: '' }
  } finally {
    clearTimeout(timer)
  }
}
