import { ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import type { FindApp } from '../app/github-app.ts'
import { concernsLink } from '../installations/installation-store.ts'
import { readConcern } from './payloads.ts'
import { isKnownEvent } from './plan-webhook.ts'
import { isSignature, verifySignature } from './verify-signature.ts'
import { insertWebhook } from './webhook-store.ts'

/** A request of GitHub: the headers that are read, and a function that reads the bytes as they came. */
export type SentWebhook = {
  /** Rejects if the body is longer than this. */
  readBody(bytesMax: number): Promise<Uint8Array>
  event: string | undefined
  deliveryId: string | undefined
  signature: string | undefined
}

export type ReceiveWebhook = (sent: SentWebhook) => Promise<void>

const mebibyte = 2 ** 20
/** An issue, a pull request and a comment have 64 Ki characters each. */
const eventBytesMax = 2 * mebibyte
/** An installation of thousands of repositories lists them all. */
const installationBytesMax = 8 * mebibyte

/**
 * Returns a function that saves a signed webhook and does nothing else, so that GitHub gets its answer quickly. It throws
 * `not_found` if the instance has no App, and `validation_error` for what GitHub did not sign. It reads no body of a request
 * that cannot be GitHub's: anybody may send one, and it may be large. Anybody may also install the App, so GitHub signs
 * webhooks of strangers. If a webhook concerns no linked installation or repository, only its delivery id is kept.
 */
export function createReceiveWebhook(options: {
  db: Db
  clock: Clock
  findApp: FindApp
  wake(): void
}): ReceiveWebhook {
  const { db, clock, findApp, wake } = options
  const notSigned = () => new ServiceError('validation_error', { message: 'The signature does not match.' })
  return async ({ readBody, event, deliveryId, signature }) => {
    const app = await findApp()
    if (!app) throw new ServiceError('not_found')
    if (!isSignature(signature)) throw notSigned()
    if (event === undefined || !/^[\w-]{1,100}$/.test(deliveryId ?? ''))
      throw new ServiceError('validation_error', { message: 'The headers of GitHub are missing.' })
    const isList = event === 'installation' || event === 'installation_repositories'
    const body = await readBody(isList ? installationBytesMax : eventBytesMax)
    if (!verifySignature(app.webhookSecret, body, signature)) throw notSigned()
    if (!isKnownEvent(event)) return
    const { kept, ...concern } = readConcern(event, Buffer.from(body))
    const isOurs = await concernsLink(db, concern)
    await insertWebhook(db, { deliveryId: deliveryId!, event, body: isOurs ? kept : null }, clock.now())
    if (isOurs) wake()
  }
}
