/** What an operator must know about mail at the start. The supervisor prints it, the control plane logs it. */

const loopbackHost = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/

const isPublic = (url: string | undefined): boolean =>
  url !== undefined && URL.canParse(url) && !loopbackHost.test(new URL(url).hostname)

/** Returns sentences about what will not work, none if mail is set up or nobody else uses this instance. */
export function listMailNotices(settings: {
  publicUrl: string | undefined
  smtpUrl: string | undefined
  mailFrom: string | undefined
}): string[] {
  const { publicUrl, smtpUrl, mailFrom } = settings
  if (!isPublic(publicUrl)) return []
  if (!smtpUrl)
    return [
      'SMTP_URL is not set, so Dock sends no mail. People get no link to confirm their address, to set a new password or to accept an invitation, and no alerts by mail. Messages of the contact form are not sent either. Dock writes each mail to a file in control/outbox of the data folder instead.',
    ]
  if (!mailFrom || mailFrom.endsWith('.localhost'))
    return [
      'DOCK_MAIL_FROM is not an address of your own domain. Most mail servers refuse mail from dock@dock.localhost.',
    ]
  return []
}
