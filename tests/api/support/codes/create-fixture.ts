/** Creates what the triggers of error codes work with. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { newUuid } from '@dock/foundation'
import { addPerson, type ControlPlaneWithHost } from '@dock/testkit'
import type { Fixture, Reply } from './fixture.ts'

const replyOf = (status: number, text: string): Reply => {
  const { code, data } = JSON.parse(text) as { code?: string; data?: unknown }
  return { status, code, data }
}

/** Creates an organization with an owner and a member. The server must listen on the port. */
export async function createFixture(server: ControlPlaneWithHost, port: number): Promise<Fixture> {
  const owner = await addPerson(server)
  const ask: Fixture['ask'] = async (method, path, body, { as = owner, headers = {} } = {}) => {
    const answer = await server.fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${as.apiKey}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return replyOf(answer.status, await answer.text())
  }
  const made = await ask('POST', '/v1/organizations', { name: `Org ${newUuid()}` })
  const { id: organizationId } = made.data as { id: string }
  const { data } = await ask('GET', `/v1/organizations/${organizationId}/workspaces`)
  const [workspace] = data as { id: string }[]
  const member = await addPerson(server, { role: 'member', organizationId })
  return {
    ...{ server, owner, member, organizationId, workspaceId: workspace!.id, ask },
    upgrade: async (path) => {
      const headers = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      }
      const outgoing = request({ port, path, headers, agent: false }).end()
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
      return replyOf(response.statusCode ?? 0, Buffer.concat(await response.toArray()).toString())
    },
  }
}
