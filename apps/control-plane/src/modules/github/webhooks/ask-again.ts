/** Asks GitHub to deliver again what did not arrive. GitHub never does so by itself, and keeps deliveries for three days. */
import type { Clock, Logger } from '@dock/foundation'
import * as z from 'zod'
import type { Db } from '../../../database/database.ts'
import type { GithubApi } from '../api/github-api.ts'
import { GithubRefused } from '../api/github-errors.ts'
import { appAuthorization, type FindApp } from '../app/github-app.ts'
import { isKnownEvent } from './plan-webhook.ts'
import { findReceived } from './webhook-store.ts'

const pageSize = 100
/** How many deliveries are looked at: all that a busy App has in some hours. */
const pagesMax = 10
const requestsMax = 100
/** A delivery that failed this often is given up. */
const attemptsMax = 5
/** A delivery of this age may still be on its way. */
const settledMs = 60_000
/** Time between two requests for the same delivery. */
const pauseMs = 10 * 60_000

const deliveries = z.array(
  z.object({ id: z.int(), guid: z.string().max(100), delivered_at: z.string(), event: z.string() }),
)
type Delivery = z.output<typeof deliveries>[number]

export async function askAgain(options: {
  db: Db
  clock: Clock
  logger: Logger
  api: GithubApi
  findApp: FindApp
}): Promise<void> {
  const { db, clock, logger, api, findApp } = options
  const app = await findApp()
  if (!app) return
  const listed: Delivery[] = []
  let cursor: string | null = null
  for (let page = 0; page < pagesMax; page += 1) {
    const authorization = appAuthorization(app, clock.now())
    const query = { per_page: pageSize, ...(cursor === null ? {} : { cursor }) }
    const response = await api.send({ path: '/app/hook/deliveries', query, authorization })
    const read = deliveries.safeParse(response.body)
    if (!read.success) throw new GithubRefused('GitHub does not list deliveries', response.status)
    const latestKnown = await findReceived(
      db,
      read.data.map(({ guid }) => guid),
    )
    listed.push(...read.data.filter(({ guid, event }) => isKnownEvent(event) && !latestKnown.has(guid)))
    cursor = response.nextCursor
    if (cursor === null) break
  }
  const now = clock.now().getTime()
  const missing = [...Map.groupBy(listed, ({ guid }) => guid).values()].filter((attempts) => {
    const latest = Math.max(...attempts.map(({ delivered_at }) => Date.parse(delivered_at)))
    return attempts.length < attemptsMax && now - latest > (attempts.length > 1 ? pauseMs : settledMs)
  })
  for (const [delivery] of missing.slice(0, requestsMax)) {
    const path = `/app/hook/deliveries/${delivery!.id}/attempts`
    const authorization = appAuthorization(app, clock.now())
    const { status } = await api.send({ method: 'POST', path, authorization })
    logger.info({ deliveryId: delivery!.guid, status }, 'asked GitHub for a webhook that did not arrive')
  }
}
