/** Calls in a session of the first person, for routes that refuse API keys. */
import type { Admin } from './server.ts'

/** Sends a request and returns its data, whose type the caller knows. Throws if it is refused. */
export type InSession = <Data>(method: string, path: string, body?: object) => Promise<Data>

/** Signs in with the password and returns the cookie of the session. */
export async function sessionCookie({ baseUrl, email, password }: Admin): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: baseUrl },
    body: JSON.stringify({ email, password }),
  })
  if (!answer.ok) throw new Error(`sign-in failed with ${answer.status}: ${await answer.text()}`)
  return answer.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
}

export async function signIn(admin: Admin): Promise<InSession> {
  const { baseUrl } = admin
  const cookie = await sessionCookie(admin)
  return async <Data>(method: string, path: string, body?: object) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { cookie, origin: baseUrl, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const { ok, data, ...problem } = (await response.json()) as { ok: boolean; data: Data }
    if (!ok) throw new Error(`${method} ${path}: ${JSON.stringify(problem)}`)
    return data
  }
}
