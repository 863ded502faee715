/** What a person sees when a hosted port cannot answer: which of the two has to do something, and what. */
export type Problem = { status: 400 | 404 | 502 | 503; title: string; text: string }

export const problems = {
  badRequest: {
    status: 400,
    title: 'This request cannot be passed on',
    text: 'It names its destination in a way that is not allowed here.',
  },
  unknown: {
    status: 404,
    title: 'There is nothing at this address',
    text: 'The port is not exposed any more, or the address is mistyped. Whoever gave it to you can give you a new one.',
  },
  stopped: {
    status: 502,
    title: 'The Dock is not running',
    text: 'Its owner has to resume it; then this address works again.',
  },
  unreachable: {
    status: 502,
    title: 'The Dock cannot be reached now',
    text: 'The machine it runs on does not answer. Try again in a moment.',
  },
  notFoundNow: {
    status: 502,
    title: 'The Dock cannot be reached now',
    text: 'Where it runs could not be looked up. Try again in a moment.',
  },
  notListening: {
    status: 502,
    title: 'Nothing answers on this port',
    text: 'The Dock is running, but no program in it listens on this port. Start one, then load this page again.',
  },
  badAnswer: {
    status: 502,
    title: 'The answer was broken off',
    text: 'The program on this port ended the connection, or what it said is not HTTP.',
  },
  crowded: {
    status: 503,
    title: 'Too many connections',
    text: 'This Dock has as many open connections as it may have. Try again in a moment.',
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

/** A page for a browser, two sentences for everything else. */
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
