/**
 * A mail server of tests in a process of its own, with STARTTLS and AUTH. What it does with a mail depends on the
 * recipient's domain. Accepted mails are lines of `accepted.jsonl`, written before the reply.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import type { AcceptedMail, MailServerSettings } from './mail-server.ts'

const settings = JSON.parse(process.argv[2]!) as MailServerSettings

const refusal = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode })

/** True for the first call with a name, also across restarts of the process. */
const isFirst = (name: string): boolean => {
  const marker = join(settings.folder, encodeURIComponent(name))
  if (existsSync(marker)) return false
  writeFileSync(marker, '')
  return true
}

const domainOf = (address: string): string => address.slice(address.indexOf('@') + 1)
const recipientOf = (session: SMTPServerSession): string => session.envelope.rcptTo[0]?.address ?? ''

const server = new SMTPServer({
  key: readFileSync(settings.certificate.key),
  cert: readFileSync(settings.certificate.certificate),
  disableReverseLookup: true,
  // Only the process's end closes a connection.
  socketTimeout: 600_000,
  onAuth: ({ username, password }, _, done) => {
    if (username === settings.user && password === settings.password) done(null, { user: username })
    else done(refusal(535, 'Authentication failed'))
  },
  onRcptTo: ({ address }, _, done) => {
    const domain = domainOf(address)
    if (domain === 'greylisted.test' && isFirst(`greylisted ${address}`))
      return done(refusal(451, `4.7.1 <${address}>: Greylisted, try again later`))
    if (domain === 'refused.test') return done(refusal(550, `5.1.1 <${address}>: No such user`))
    if (domain === 'silent.test') return
    done()
  },
  onData: (stream, session, done) => {
    const recipient = recipientOf(session)
    const domain = domainOf(recipient)
    if (domain === 'dies.test' && isFirst(`dies ${recipient}`))
      stream.once('data', () => process.kill(process.pid, 'SIGKILL'))
    text(stream).then((content) => {
      if (domain === 'disliked.test') return done(refusal(554, '5.7.1 Content rejected'))
      const mail: AcceptedMail = {
        recipient,
        sender: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
        content,
        messageId: /^message-id: (.*)$/im.exec(content)?.[1] ?? '',
        isEncrypted: session.secure,
        user: session.user ?? null,
        connection: session.id,
      }
      appendFileSync(join(settings.folder, 'accepted.jsonl'), `${JSON.stringify(mail)}\n`)
      if (domain === 'forgetful.test' && isFirst(`forgetful ${recipient}`))
        process.kill(process.pid, 'SIGKILL')
      else if (domain === 'slow.test') setTimeout(done, settings.slowMs)
      else done()
    }, done)
  },
})
server.on('error', () => undefined)
server.listen(settings.port, '127.0.0.1', () => process.send?.('listening'))
process.on('disconnect', () => process.exit(0))
