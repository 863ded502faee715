/** Opens a page in the user's browser. */
import { spawn } from 'node:child_process'
import { LocalError } from '../program/failures.ts'

/** Returns the address if it is a web page's, in the one spelling that a parser of URLs gives it. */
export function webAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new LocalError(
      'address_refused',
      'The service named an address that is no web page. It was not opened.',
    )
  return url.href
}

const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  // No shell is involved, unlike with `start`.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens the page. Returns false if this computer has no browser. */
export async function openPage(address: string): Promise<boolean> {
  const page = webAddress(address)
  const [program, ...args] = openers[process.platform] ?? ['xdg-open']
  return new Promise((resolve) => {
    const child = spawn(program, [...args, page], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
