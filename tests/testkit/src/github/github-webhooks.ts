/** The webhooks of the stand-in: signed, and as unreliable as a test wants them. */
import { createHmac, randomUUID } from 'node:crypto'
import type { GithubWorld } from './github-world.ts'

export type GithubDelivery = {
  id: number
  guid: string
  event: string
  action: string | null
  body: string
  deliveredAt: string
  isRedelivery: boolean
  /** What the receiver answered. 0: it did not. */
  status: number
}

export type SendWebhook = (headers: Record<string, string>, body: string) => Promise<number>

export class GithubWebhooks {
  /** All deliveries, oldest first. */
  readonly deliveries: GithubDelivery[] = []
  /** True: deliveries are only recorded, as if the receiver were down. Tests send them themselves, in any order. */
  isHeld = false
  /** Sends to the receiver. By default, to the App's webhook URL. */
  send: SendWebhook
  readonly #world: GithubWorld

  constructor(world: GithubWorld) {
    this.#world = world
    this.send = async (headers, body) => {
      if (world.app.hookUrl === null) return 0
      const response = await fetch(world.app.hookUrl, { method: 'POST', headers, body })
      await response.arrayBuffer()
      return response.status
    }
  }

  /** Records an event and delivers it, unless deliveries are held. */
  async emit(event: string, payload: Record<string, unknown>): Promise<GithubDelivery> {
    const delivery = this.#record(event, JSON.stringify(payload), randomUUID(), false)
    if (!this.isHeld) await this.deliver(delivery)
    return delivery
  }

  /** Sends a delivery once more, under its id or under a new one. */
  async deliver(delivery: GithubDelivery, guid: string = delivery.guid): Promise<number> {
    const { webhookSecret } = this.#world.app
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/stand-in',
      'x-github-event': delivery.event,
      'x-github-delivery': guid,
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature-256': `sha256=${createHmac('sha256', webhookSecret).update(delivery.body).digest('hex')}`,
    }
    delivery.status = await this.send(headers, delivery.body).catch(() => 0)
    return delivery.status
  }

  /** Delivers again by the API: with the same id, as a new entry of the list. */
  async redeliver(id: number): Promise<boolean> {
    const known = this.deliveries.find((each) => each.id === id)
    if (!known) return false
    await this.deliver(this.#record(known.event, known.body, known.guid, true))
    return true
  }

  #record(event: string, body: string, guid: string, isRedelivery: boolean): GithubDelivery {
    const { action = null } = JSON.parse(body) as { action?: string }
    const delivery = {
      ...{ id: this.#world.nextId(), guid, event, action, body, isRedelivery, status: 0 },
      deliveredAt: this.#world.time(),
    }
    this.deliveries.push(delivery)
    return delivery
  }
}
