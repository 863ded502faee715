/** A tenant makes accounts for addresses that nobody owns, and fills the tables of the instance. */
import { withServer } from '../../../bench/parts/bench-server.ts'
import { confirmationLink, invitationLink, mailedLink } from '../../e2e/support/mailed-link.ts'
import { sessionCookie } from '../../e2e/support/session.ts'
import type { Report } from './report.ts'

const password = 'a long password of nobody'
const refused = 'email_verification_required'

export function fakeAccounts(report: Report): Promise<void> {
  return withServer(
    { DOCK_WARM_POOL: '0', DOCK_EMBEDDED_HOST: 'off' },
    async ({ admin, client, dataDir }) => {
      const { baseUrl } = admin
      const ask = async (cookie: string, method: string, path: string, body?: object) => {
        const response = await fetch(baseUrl + path, {
          method,
          headers: { cookie, origin: baseUrl, ...(body ? { 'content-type': 'application/json' } : {}) },
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
        const { code, data } = (await response.json()) as { code?: string; data?: unknown }
        const cookies = response.headers.getSetCookie().map((each) => each.split(';')[0])
        return { seen: code ?? String(response.status), data, cookie: cookies.join('; ') }
      }
      const signUp = (email: string, link: string) =>
        ask('', 'POST', '/api/auth/sign-up/email', {
          ...{ email, password, name: 'Somebody', invitationToken: link.split('/').at(-1) },
        })

      // Mallory is an ordinary person who has confirmed her address.
      const mallory = 'mallory@example.test'
      await client.call('inviteMember', { params: { id: admin.organizationId }, body: { email: mallory } })
      const { cookie: hers } = await signUp(mallory, await mailedLink(dataDir, mallory, invitationLink))
      const confirm = await mailedLink(dataDir, mallory, confirmationLink)
      await fetch(confirm, { redirect: 'manual', headers: { cookie: hers } })
      const own = await ask(hers, 'POST', '/v1/organizations', { name: 'Mallory', seats: 10 })
      const { id } = (own.data ?? {}) as { id?: string }

      const sock = 'sock@nowhere.invalid'
      await ask(hers, 'POST', `/v1/organizations/${id}/members`, { email: sock })
      const listed = await ask(hers, 'GET', `/v1/organizations/${id}/invitations`)
      const [invitation] = (listed.data ?? []) as { id: string }[]
      const path = `/api/dashboard/organizations/${id}/invitations/${invitation?.id}/link`
      const linked = await ask(hers, 'POST', path)
      const puppet = await signUp(sock, (linked.data as { link: string }).link)
      const organization = (cookie: string) => ask(cookie, 'POST', '/v1/organizations', { name: 'Sock' })
      const made = await organization(puppet.cookie)
      const dock = await ask(puppet.cookie, 'POST', '/v1/docks', { workspaceId: id })
      const key = await ask(puppet.cookie, 'POST', '/v1/api-keys', { name: 'sock' })
      report.attack({
        what: 'makes organizations, Docks and keys with accounts for addresses that nobody owns',
        control: own.seen === '201' && puppet.seen === '200',
        holds: [made, dock, key].every(({ seen }) => seen === refused),
        seen: `Mallory gets ${own.seen}; her sock puppet ${made.seen}, ${dock.seen} and ${key.seen}`,
      })

      const me = (await ask(puppet.cookie, 'GET', '/v1/me')).data as { id: string }
      const vouch = (cookie: string) => ask(cookie, 'POST', `/api/dashboard/unverified-people/${me.id}/vouch`)
      const [byHer, byItself] = [await vouch(hers), await vouch(puppet.cookie)]
      const byAdmin = await vouch(await sessionCookie(admin))
      const after = await organization(puppet.cookie)
      report.attack({
        what: 'vouches for an address as the owner of an organization',
        control: byAdmin.seen === '200' && after.seen === '201',
        holds: byHer.seen === 'instance_admin_required' && byItself.seen === 'instance_admin_required',
        seen: `${byHer.seen}; an instance admin gets ${byAdmin.seen}, and then the account ${after.seen}`,
      })

      const { id: victim } = (await client.call('readMe')) as { id: string }
      const other = await ask(puppet.cookie, 'GET', '/v1/organizations')
      const [sockOrganization] = (other.data ?? []) as { id: string }[]
      const invite = (userId: string) =>
        ask(puppet.cookie, 'POST', `/v1/organizations/${sockOrganization?.id}/members`, { userId })
      const [byId, byOwnId] = [await invite(victim), await invite(me.id)]
      report.attack({
        what: 'reads the address of a person by inviting their id',
        control: byOwnId.seen === '201',
        holds: byId.seen === 'user_not_found',
        seen: `${byId.seen}; a person of an own organization ${byOwnId.seen}`,
      })

      const answers: string[] = []
      for (let n = 0; n < 150; n += 1)
        answers.push((await ask(hers, 'POST', `/v1/organizations/${id}/workspaces`, { name: `w${n}` })).seen)
      const all = (await ask(hers, 'GET', `/v1/organizations/${id}/workspaces`)).data as unknown[]
      report.attack({
        what: 'makes 150 workspaces',
        control: answers[0] === '201',
        holds: all.length === 100 && answers.at(-1) === 'conflict',
        seen: `${all.length} exist; the last request got ${answers.at(-1)}`,
      })
    },
  )
}
