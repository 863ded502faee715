/** An attacker who knows an invited address signs up with it before its owner. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withServer } from '../../../bench/parts/bench-server.ts'
import { untilTrue } from './attackers.ts'
import type { Report } from './report.ts'

const address = 'invited@example.test'

export function squattedInvitations(report: Report): Promise<void> {
  return withServer(
    { DOCK_WARM_POOL: '0', DOCK_EMBEDDED_HOST: 'off' },
    async ({ admin, client, dataDir }) => {
      await client.call('inviteMember', { params: { id: admin.organizationId }, body: { email: address } })
      const signUp = async (email: string, more: object = {}): Promise<Response> =>
        fetch(`${admin.baseUrl}/api/auth/sign-up/email`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: admin.baseUrl },
          body: JSON.stringify({ email, password: 'a long password of nobody', name: 'Somebody', ...more }),
        })
      const squatted = await signUp(address)
      const guessed = await signUp(address, { invitationToken: 'a'.repeat(43) })

      const outbox = join(dataDir, 'control/outbox')
      let token = ''
      await untilTrue(async () => {
        for (const name of await readdir(outbox)) {
          const mail = (await readFile(join(outbox, name), 'utf8'))
            .replaceAll('=\r\n', '')
            .replaceAll('=\n', '')
          token ||= /invitations\/([A-Za-z0-9_-]+)/.exec(mail)?.[1] ?? ''
        }
        return token !== ''
      }, 15_000)
      const owner = await signUp(address, { invitationToken: token })
      const cookie = owner.headers
        .getSetCookie()
        .map((each) => each.split(';')[0])
        .join('; ')
      const control = owner.status === 200
      report.attack({
        what: 'signs up with an invited address, without the mail',
        control,
        holds: squatted.status === 403 && guessed.status === 403,
        seen: `refused with ${squatted.status} and ${guessed.status}; the owner of the mail gets ${owner.status}`,
      })

      // The address is not verified yet, so nothing that outlives the session may be created.
      const key = await fetch(`${admin.baseUrl}/v1/api-keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: admin.baseUrl, cookie },
        body: JSON.stringify({ name: 'early' }),
      })
      const me = await fetch(`${admin.baseUrl}/v1/me`, { headers: { cookie } })
      report.attack({
        what: 'makes an API key before the address is verified',
        control: me.status === 200,
        holds: key.status >= 400 && key.status !== 404,
        seen: `refused with ${key.status}: ${((await key.json()) as { code?: string }).code}`,
      })
    },
  )
}
