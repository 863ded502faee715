/** Reads the mails that the server wrote to its outbox folder, because it has no mail server. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export const invitationLink = /http:\/\/\S+\/invitations\/[A-Za-z0-9_-]{43}/
export const confirmationLink = /http:\/\/\S+\/api\/auth\/verify-email\?token=\S+/

const waitMs = 60_000

/** Waits for a mail to the address in the outbox, and returns the link in it. */
export async function mailedLink(dataDir: string, email: string, link: RegExp): Promise<string> {
  const outbox = join(dataDir, 'control/outbox')
  const deadline = Date.now() + waitMs
  for (;;) {
    const names = (await readdir(outbox).catch(() => [])).filter((name) => name.endsWith('.eml'))
    const mails = await Promise.all(names.map((name) => readFile(join(outbox, name), 'utf8')))
    for (const mail of mails.filter((each) => each.includes(`To: ${email}`))) {
      const found = link.exec(mail.replaceAll('=\r\n', '').replaceAll('=\n', '').replaceAll('=3D', '='))
      if (found) return found[0]
    }
    if (Date.now() > deadline) throw new Error(`no mail to ${email} with a link like ${link}`)
    await delay(200)
  }
}
