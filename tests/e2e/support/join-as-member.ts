/** Adds a member to the first person's organization by the public flow: invitation, sign-up, verification by mail. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@dock/sdk'
import { expect, vi } from 'vitest'
import type { Client, Server } from './server.ts'
import { freshName } from './use-server.ts'

/** Waits for a mail to the address in the outbox, and returns the link in it. */
const mailedLink = (dataDir: string, email: string, link: RegExp): Promise<string> =>
  vi.waitFor(
    async () => {
      const outbox = join(dataDir, 'control/outbox')
      const names = (await readdir(outbox)).filter((name) => name.endsWith('.eml'))
      const mails = await Promise.all(names.map((name) => readFile(join(outbox, name), 'utf8')))
      const found = mails
        .filter((mail) => mail.includes(`To: ${email}`))
        .flatMap(
          (mail) =>
            link.exec(mail.replaceAll('=\r\n', '').replaceAll('=\n', '').replaceAll('=3D', '=')) ?? [],
        )
      expect(found).not.toEqual([])
      return found[0]!
    },
    { timeout: 60_000, interval: 200 },
  )

/** Adds a member to the organization. Returns a client with the member's API key. */
export async function joinAsMember({
  client,
  admin,
  dataDir,
}: Pick<Server, 'client' | 'admin' | 'dataDir'>): Promise<Client> {
  const { baseUrl, organizationId } = admin
  const person = { email: `${freshName('member')}@example.test`, password: freshName('a long password') }
  let cookie = ''
  const ask = async (path: string, body?: object): Promise<{ response: Response; data: never }> => {
    const response = await fetch(baseUrl + path, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', origin: baseUrl, cookie },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const answer = (await response.json()) as { data: never }
    expect([path, response.ok, answer]).toEqual([path, true, answer])
    return { response, data: answer.data }
  }
  await client.call('inviteMember', { params: { id: organizationId }, body: { email: person.email } })
  const invitation = /http:\/\/\S+\/invitations\/[A-Za-z0-9_-]{43}/
  const invitationToken = (await mailedLink(dataDir, person.email, invitation)).split('/').at(-1)
  const { response } = await ask('/api/auth/sign-up/email', { ...person, name: 'A Member', invitationToken })
  cookie = response.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  const link = await mailedLink(dataDir, person.email, /http:\/\/\S+\/api\/auth\/verify-email\?token=\S+/)
  await fetch(link, { redirect: 'manual', headers: { cookie } })
  const [own] = (await ask('/v1/me/invitations')).data as { id: string }[]
  await ask(`/v1/me/invitations/${own?.id}/accept`, {})
  const { apiKey } = (await ask('/v1/api-keys', { name: 'tests' })).data as { apiKey: string }
  return createClient({ baseUrl, apiKey, retries: 0 })
}
