/** Keeps this host connected: enrols when it has no credential or its credential is refused, then holds both channels. */
import { type Logger, newUuid } from '@dock/foundation'
import { dialLink, type HostFacts, type LinkHandler } from '@dock/host-protocol'
import type { CredentialFile } from './credential-file.ts'
import { registerHost } from './register-host.ts'

export type KeepLinkedOptions = {
  url: string
  joinTokenFile: string
  credentials: CredentialFile
  facts(): Promise<HostFacts>
  handler: LinkHandler
  signal: AbortSignal
  logger: Logger
}

/** Runs until the signal ends it. */
export const keepLinked = async (options: KeepLinkedOptions): Promise<void> => {
  const { url, joinTokenFile, credentials, facts, handler, signal, logger } = options
  const session = newUuid()
  let isRefused = false
  while (!signal.aborted) {
    let host = await credentials.read()
    if (!host || isRefused) {
      // The refused credential stays in its file until there is a better one: it holds the host's id.
      const formerId = host ? { hostId: host.hostId } : {}
      host = await registerHost({ url, joinTokenFile, ...formerId, facts, signal, logger })
      await credentials.write(host)
      logger.info({ hostId: host.hostId }, 'enrolled')
    }
    const { hostId, credential } = host
    const refused = new AbortController()
    const both = AbortSignal.any([signal, refused.signal])
    const dial = async (channel: 'control' | 'bulk') => {
      const end = await dialLink({
        ...{ url, credential, hostId, session, channel, handler, signal: both, logger },
        onState: (state) => logger.info({ channel, state }, 'link'),
      })
      if (end === 'refused') refused.abort()
    }
    await Promise.all([dial('control'), dial('bulk')])
    isRefused = true
  }
}
