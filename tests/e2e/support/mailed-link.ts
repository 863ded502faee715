/** Reads the mails that the server wrote to its outbox folder, because it has no mail server. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, vi } from 'vitest'

export const invitationLink = /http:\/\/\S+\/invitations\/[A-Za-z0-9_-]{43}/
export const confirmationLink = /http:\/\/\S+\/api\/auth\/verify-email\?token=\S+/

/** Waits for a mail to the address in the outbox, and returns the link in it. */
export function mailedLink(dataDir: string, email: string, link: RegExp): Promise<string> {
  return vi.waitFor(
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
}
