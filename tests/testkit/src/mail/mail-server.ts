/** Starts a real mail server in a process of its own, which a test can kill and start again. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../free-port.ts'
import { type Certificate, makeCertificate } from '../make-certificate.ts'

export type MailServerSettings = {
  port: number
  folder: string
  certificate: Certificate
  user: string
  password: string
  /** How long an acceptance of a mail to slow.test takes. */
  slowMs: number
}

export type AcceptedMail = {
  recipient: string
  sender: string
  content: string
  messageId: string
  isEncrypted: boolean
  user: string | null
  /** Mails of one connection have the same. */
  connection: string
}

/**
 * Replies by the recipient's domain. `greylisted.test`: 451 at first. `refused.test`: 550. `disliked.test`: 554 to the
 * content. `slow.test`: accepted after a while. `silent.test`: no reply. `dies.test`: the process is killed in the middle
 * of the mail, once for each recipient. `forgetful.test`: it is killed after the mail was saved, before the reply, once.
 * All others: accepted.
 */
export type MailServer = {
  /** With STARTTLS, a password and the authority of the server's certificate. */
  url: string
  settings: MailServerSettings
  accepted(): Promise<AcceptedMail[]>
  /** Resolves when the process has ended. */
  untilDead(): Promise<void>
  restart(): Promise<void>
  /** Starts it again whenever it has died, until {@link MailServer.stop}. */
  keepRunning(): void
  stop(): Promise<void>
}

const program = fileURLToPath(new URL('mail-server-process.ts', import.meta.url))

const launch = async (settings: MailServerSettings): Promise<ChildProcess> => {
  const child = fork(program, [JSON.stringify(settings)], { execArgv: [], stdio: 'inherit' })
  const ended = once(child, 'exit').then(() => {
    throw new Error('the mail server did not start')
  })
  await Promise.race([once(child, 'message'), ended])
  ended.catch(() => undefined)
  return child
}

export async function startMailServer(options: { slowMs?: number } = {}): Promise<MailServer> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-mail-server-'))
  const certificate = await makeCertificate(folder, '127.0.0.1')
  const settings: MailServerSettings = {
    ...{ port: await freePort(), folder, certificate },
    ...{ user: 'dock', password: 'secret of a test', slowMs: options.slowMs ?? 500 },
  }
  let child = await launch(settings)
  let isStopped = false
  let keeping: Promise<void> = Promise.resolve()
  const untilDead = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  const restart = async (): Promise<void> => {
    await untilDead()
    child = await launch(settings)
  }
  const query = new URLSearchParams({
    requireTLS: 'true',
    'tls.ca': await readFile(certificate.authority, 'utf8'),
  })
  return {
    settings,
    url: `smtp://${settings.user}:${encodeURIComponent(settings.password)}@127.0.0.1:${settings.port}?${query}`,
    accepted: async () => {
      const lines = await readFile(join(folder, 'accepted.jsonl'), 'utf8').catch(() => '')
      return lines
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as AcceptedMail)
    },
    untilDead,
    restart,
    keepRunning: () => {
      keeping = (async () => {
        for (;;) {
          await untilDead()
          if (isStopped) return
          await restart()
        }
      })()
    },
    stop: async () => {
      isStopped = true
      child.kill('SIGKILL')
      await untilDead()
      await keeping
      await rm(folder, { recursive: true, force: true })
    },
  }
}
