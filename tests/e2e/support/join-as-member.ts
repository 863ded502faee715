/** Adds a member to the first person's organization by the public flow: invitation, sign-up, verification by mail. */
import { createClient } from '@dock/sdk'
import { expect } from 'vitest'
import { confirmationLink, invitationLink, mailedLink } from './mailed-link.ts'
import type { Client, Server } from './server.ts'
import { freshName } from './use-server.ts'

type Joined = { client: Client; person: { email: string; password: string } }

/** Adds a member to the organization. Returns a client with the member's API key. */
export async function joinAsMember(server: Pick<Server, 'client' | 'admin' | 'dataDir'>): Promise<Client> {
  return (await joinAsPerson(server)).client
}

/** The same, with what the member signs in with. */
export async function joinAsPerson({
  client,
  admin,
  dataDir,
}: Pick<Server, 'client' | 'admin' | 'dataDir'>): Promise<Joined> {
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
  const invitationToken = (await mailedLink(dataDir, person.email, invitationLink)).split('/').at(-1)
  const { response } = await ask('/api/auth/sign-up/email', { ...person, name: 'A Member', invitationToken })
  cookie = response.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  const link = await mailedLink(dataDir, person.email, confirmationLink)
  await fetch(link, { redirect: 'manual', headers: { cookie } })
  const [own] = (await ask('/v1/me/invitations')).data as { id: string }[]
  await ask(`/v1/me/invitations/${own?.id}/accept`, {})
  const { apiKey } = (await ask('/v1/api-keys', { name: 'tests' })).data as { apiKey: string }
  return { client: createClient({ baseUrl, apiKey, retries: 0 }), person }
}
