/**
 * A control plane inside the proof's network, with the real web and a clock that the proof advances. Requests to it stay
 * in memory and its database listens on a Unix socket, so that it opens no connection but those of webhooks.
 */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { DeliveryAttempt } from '@dock/contract'
import { composeControlPlane } from '@dock/control-plane/composition'
import { readConfig } from '@dock/control-plane/config'
import { openDatabase } from '@dock/control-plane/database'
import { ensureFirstUser } from '@dock/control-plane/first-person'
import { migrate } from '@dock/control-plane/migrate'
import { newRingEntry, parseKeyRing } from '@dock/control-plane/sealing'
import { startPostgres } from '@dock/embedded-postgres'
import { createLogger } from '@dock/foundation'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'

export type Product = {
  /** Adds an endpoint. Returns its id, or the code of the refusal. */
  addEndpoint(url: string): Promise<{ id: string } | { code: string }>
  removeEndpoint(id: string): Promise<void>
  /** Sends a test event, and returns the attempt. */
  test(id: string): Promise<DeliveryAttempt>
  /** Sends the event of the latest attempt again, and returns the new attempt. */
  redeliver(id: string): Promise<DeliveryAttempt>
  /** Advances the clock to the first retry, and returns the new attempt. */
  retry(id: string): Promise<DeliveryAttempt>
  stop(): Promise<void>
}

const firstRetryMs = 30_000
const attemptWithinMs = 30_000
const password = 'correct horse battery'

export async function startProduct(): Promise<Product> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-ssrf-product-'))
  // PostgreSQL runs as another user, who needs access to the subfolders.
  await chmod(folder, 0o755)
  const postgres = await startPostgres({
    dataDir: join(folder, 'pg'),
    socketDir: join(folder, 'run'),
    logPath: join(folder, 'postgres.log'),
    fsync: false,
  })
  await migrate(postgres.url)
  const database = openDatabase({ url: postgres.url })
  const clock = createVirtualClock()
  const config = readConfig({
    DATABASE_URL: postgres.url,
    DOCK_CONTROL_DIR: folder,
    DOCK_EMBEDDED_HOST: 'off',
    DEFAULT_IMAGE: 'debian-13',
  })
  const logger = createLogger('ssrf-proof')
  logger.level = 'error'
  const controlPlane = composeControlPlane({
    ...{ config, database, clock, logger },
    authSecret: 'a secret of this proof, at least 32 characters',
    keyRing: parseKeyRing(newRingEntry()),
  })
  const { email } = config.admin
  const { apiUrl: baseUrl } = config
  const user = { controlDir: folder, baseUrl, image: config.defaultImage, email, password, now: clock.now() }
  await ensureFirstUser(database.db, user)
  const { organizationId } = JSON.parse(await readFile(join(folder, 'admin.json'), 'utf8')) as {
    organizationId: string
  }
  await controlPlane.start()

  let cookie = ''
  const send = async (method: string, path: string, body?: object): Promise<Response> =>
    controlPlane.app.fetch(
      new Request(baseUrl + path, {
        method,
        headers: { cookie, origin: baseUrl, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    )
  const signedIn = await send('POST', '/api/auth/sign-in/email', { email, password })
  cookie = signedIn.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  const pathOf = (id: string, rest = ''): string =>
    `/v1/webhooks/endpoints/${id}${rest}?organizationId=${organizationId}`
  const ask = async <Data>(method: string, path: string): Promise<Data> => {
    const { ok, data, ...problem } = (await (await send(method, path)).json()) as { ok: boolean; data: Data }
    if (!ok) throw new Error(`${method} ${path}: ${JSON.stringify(problem)}`)
    return data
  }
  const attemptsOf = (id: string) => ask<DeliveryAttempt[]>('GET', pathOf(id, '/deliveries'))
  /** Does what leads to one more attempt, and waits for it. */
  const nextAttempt = async (id: string, cause: () => unknown): Promise<DeliveryAttempt> => {
    const { length } = await attemptsOf(id)
    await cause()
    const deadline = Date.now() + attemptWithinMs
    for (;;) {
      const attempts = await attemptsOf(id)
      if (attempts.length > length) return attempts[0]!
      if (Date.now() > deadline) throw new Error('no attempt was made')
      await delay(5)
    }
  }
  return {
    addEndpoint: async (url) => {
      const body = { organizationId, name: 'proof', url, events: ['dock.ready'] }
      const answer = await (await send('POST', '/v1/webhooks/endpoints', body)).json()
      const { code, data } = answer as { code?: string; data?: { id: string } }
      return data ? { id: data.id } : { code: code ?? '' }
    },
    removeEndpoint: (id) => ask('DELETE', pathOf(id)),
    test: (id) => nextAttempt(id, () => ask('POST', pathOf(id, '/test'))),
    redeliver: async (id) => {
      const [latest] = await attemptsOf(id)
      return nextAttempt(id, () => ask('POST', pathOf(id, `/deliveries/${latest!.id}/redeliver`)))
    },
    retry: (id) => nextAttempt(id, () => clock.advance(firstRetryMs)),
    stop: async () => {
      await controlPlane.stop()
      await database.close()
      await postgres.stop()
      await rm(folder, { recursive: true })
    },
  }
}
