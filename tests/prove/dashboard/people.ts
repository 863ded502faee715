/** People who sign up by the public routes, with the mails that the server wrote. */

import { confirmationLink, mailedLink } from '../../e2e/support/mailed-link.ts'
import type { Server } from '../../e2e/support/server.ts'
import { type InSession, signIn } from '../../e2e/support/session.ts'

export type Person = { email: string; password: string; ask: InSession }

const password = 'a password for the proof'

/** Signs a person up, and confirms the address unless `isConfirmed` is false. */
export async function signUp(
  { admin, dataDir }: Server,
  name: string,
  email: string,
  isConfirmed = true,
): Promise<Person> {
  const { baseUrl } = admin
  const response = await fetch(`${baseUrl}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: baseUrl },
    body: JSON.stringify({ name, email, password }),
  })
  if (!response.ok) throw new Error(`sign-up of ${email}: ${response.status} ${await response.text()}`)
  if (isConfirmed) {
    // The link works in a browser that is signed in as the person.
    const cookie = response.headers.getSetCookie().map((each) => each.split(';')[0])
    const link = await mailedLink(dataDir, email, confirmationLink)
    await fetch(link, { redirect: 'manual', headers: { cookie: cookie.join('; ') } })
  }
  return { email, password, ask: await signIn({ ...admin, email, password }) }
}
