/**
 * Pages for requests to hosted ports that fail. Each says what the visitor or the Dock's owner can do. Everybody who knows the
 * address may know the Dock's state, and nothing else of the Dock.
 */
import { type DockState, isReadyDockState } from '@dock/contract'

export type Problem = {
  status: 400 | 404 | 502 | 503
  /** In the response for programs. */
  code: string
  title: string
  text: string
  state?: DockState
  retryAfterSeconds?: number
}

/** Seconds after which a Dock that is starting may be ready. */
const startSeconds = 5

export const problems = {
  badRequest: {
    status: 400,
    code: 'bad_request',
    title: 'This request cannot be forwarded',
    text: 'It must have exactly one Host header and a path that starts with a slash.',
  },
  unknown: {
    status: 404,
    code: 'port_not_found',
    title: 'There is nothing at this address',
    text: 'The port is no longer exposed, or the address is mistyped. Ask the person who gave it to you for a new one.',
  },
  stopped: {
    status: 502,
    code: 'dock_not_running',
    title: 'The Dock is stopped',
    text: 'Its owner resumes it in the dashboard, or with "dock resume". Then this address works again.',
  },
  stopping: {
    status: 502,
    code: 'dock_not_running',
    title: 'The Dock is being stopped',
    text: 'Once it is stopped, its owner can resume it in the dashboard, or with "dock resume". Then this address works again.',
  },
  starting: {
    status: 503,
    code: 'dock_not_running',
    title: 'The Dock is starting',
    text: 'This address works as soon as the Dock is ready and a program listens on the port. Load this page again in a moment.',
    retryAfterSeconds: startSeconds,
  },
  failed: {
    status: 502,
    code: 'dock_not_running',
    title: 'The Dock has failed',
    text: 'Its owner finds the reason in the dashboard.',
  },
  unreachable: {
    status: 502,
    code: 'dock_unreachable',
    title: 'The Dock cannot be reached now',
    text: 'The machine that it runs on does not respond. Try again in a moment.',
  },
  lookupFailed: {
    status: 502,
    code: 'service_unavailable',
    title: 'The Dock cannot be reached now',
    text: 'Its location could not be looked up. Try again in a moment.',
  },
  notListening: {
    status: 502,
    code: 'port_not_listening',
    title: 'Nothing is listening on this port',
    text: 'The Dock is running, but no program in it listens on this port. Start one, then load this page again.',
  },
  badResponse: {
    status: 502,
    code: 'bad_gateway',
    title: 'The response is incomplete or invalid',
    text: 'The program on this port closed the connection, or its response is not valid HTTP. Check the program.',
  },
  tooManyConnections: {
    status: 503,
    code: 'too_many_connections',
    title: 'Too many connections',
    text: 'This Dock has reached its limit of open connections. Try again in a moment.',
  },
} as const satisfies Record<string, Problem>

/** Returns why a Dock in this state serves no port, or undefined if it does. */
export function problemOfState(state: DockState): Problem | undefined {
  if (isReadyDockState(state)) return undefined
  const problem = byState[state]
  return problem && { ...problem, state }
}

const byState: { readonly [State in DockState]?: Problem } = {
  provisioning: problems.starting,
  provisioned: problems.starting,
  cloning: problems.starting,
  archiving: problems.stopping,
  archived: problems.stopped,
  error: problems.failed,
  unreachable: problems.unreachable,
}

const page = ({ title, text }: Problem): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { display: grid; place-content: center; min-height: 90vh; margin: 0; padding: 1.5rem }
  main { max-width: 32rem }
  h1 { font-size: 1.4rem; margin: 0 0 .5rem }
  p { margin: 0; opacity: .8 }
</style>
<main><h1>${title}</h1><p>${text}</p></main>
</html>
`

export type ProblemAnswer = { status: number; headers: Record<string, string>; body: string }

/** Returns an HTML page for browsers, the envelope of the API for programs that ask for JSON, and plain text for others. */
const contentOf = (problem: Problem, accept = ''): { type: string; body: string } => {
  if (accept.includes('text/html')) return { type: 'text/html', body: page(problem) }
  const { code, title, text, state } = problem
  const message = `${title}. ${text}`
  if (/\bapplication\/([\w.-]+\+)?json\b/i.test(accept))
    return { type: 'application/json', body: `${JSON.stringify({ ok: false, code, message, state })}\n` }
  return { type: 'text/plain', body: `${message}\n` }
}

/** Returns the response for a problem, in the form that the client prefers. */
export function problemAnswer(problem: Problem, accept: string | undefined): ProblemAnswer {
  const { type, body } = contentOf(problem, accept)
  const { status, retryAfterSeconds } = problem
  return {
    status,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body,
  }
}
