/** Keeps this host connected: enrols without a valid credential, then keeps both channels of the link open. */
import { type Logger, newUuid } from '@dock/foundation'
import {
  type ConnectHandler,
  dialLink,
  type HostFacts,
  type LinkHandler,
  type RegisteredHost,
} from '@dock/host-protocol'
import type { CredentialFile } from './credential-file.ts'
import { registerHost } from './register-host.ts'

export type KeepLinkedOptions = {
  url: string
  joinTokenFile: string
  credentials: CredentialFile
  facts(): Promise<HostFacts>
  handler: LinkHandler
  connect: ConnectHandler
  signal: AbortSignal
  logger: Logger
}

/** Runs until `signal` aborts. */
export async function keepLinked(options: KeepLinkedOptions): Promise<void> {
  const { url, joinTokenFile, credentials, facts, handler, connect, signal, logger } = options
  const session = newUuid()
  let refused: string | null = null
  while (!signal.aborted) {
    // Keep a refused credential in its file until there is a new one: it proves which host this was.
    const former = await credentials.read()
    let host: RegisteredHost | null = former?.credential === refused ? null : former
    if (!host) {
      const replaced = async () => {
        const stored = await credentials.read()
        return stored && stored.credential !== refused ? stored : null
      }
      host = await registerHost({ url, joinTokenFile, former, replaced, facts, signal, logger })
      await credentials.write(host)
      logger.info({ hostId: host.hostId }, 'enrolled')
    }
    const { hostId, credential }: RegisteredHost = host
    const over = new AbortController()
    const both = AbortSignal.any([signal, over.signal])
    const dial = async (channel: 'control' | 'bulk') => {
      const end = await dialLink({
        ...{ url, credential, hostId, session, channel, handler, connect, signal: both, logger },
        onState: (state) => logger.info({ channel, state }, 'link'),
      })
      if (end === 'refused') over.abort()
    }
    await Promise.all([dial('control'), dial('bulk')])
    refused = credential
  }
}
