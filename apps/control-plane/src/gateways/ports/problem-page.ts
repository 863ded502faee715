/** Pages for requests to hosted ports that fail. Each says what the visitor or the Dock's owner can do. */
export type Problem = { status: 400 | 404 | 502 | 503; title: string; text: string }

export const problems = {
  badRequest: {
    status: 400,
    title: 'This request cannot be forwarded',
    text: 'It must have exactly one Host header and a path that starts with a slash.',
  },
  unknown: {
    status: 404,
    title: 'There is nothing at this address',
    text: 'The port is no longer exposed, or the address is mistyped. Ask the person who gave it to you for a new one.',
  },
  stopped: {
    status: 502,
    title: 'The Dock is not running',
    text: 'Its owner must resume it. Then this address works again.',
  },
  unreachable: {
    status: 502,
    title: 'The Dock cannot be reached now',
    text: 'The machine that it runs on does not respond. Try again in a moment.',
  },
  lookupFailed: {
    status: 502,
    title: 'The Dock cannot be reached now',
    text: 'Its location could not be looked up. Try again in a moment.',
  },
  notListening: {
    status: 502,
    title: 'Nothing is listening on this port',
    text: 'The Dock is running, but no program in it listens on this port. Start one, then load this page again.',
  },
  badResponse: {
    status: 502,
    title: 'The response is incomplete or invalid',
    text: 'The program on this port closed the connection, or its response is not valid HTTP. Check the program.',
  },
  tooManyConnections: {
    status: 503,
    title: 'Too many connections',
    text: 'This Dock has reached its limit of open connections. Try again in a moment.',
  },
} as const satisfies Record<string, Problem>

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

/** Returns an HTML page for browsers, and plain text for other clients. */
export function problemAnswer(problem: Problem, accept: string | undefined): ProblemAnswer {
  const isBrowser = accept?.includes('text/html') ?? false
  const body = isBrowser ? page(problem) : `${problem.title}. ${problem.text}\n`
  return {
    status: problem.status,
    headers: {
      'content-type': `text/${isBrowser ? 'html' : 'plain'}; charset=utf-8`,
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
    body,
  }
}
