/** Receivers of webhooks in memory. A test decides what each URL responds. */
import type { PublicWeb, Receipt } from '@dock/control-plane/src/modules/webhooks/index.ts'

export type Delivered = { url: string; headers: Readonly<Record<string, string>>; body: string }

export type FakeReceivers = PublicWeb & {
  /** All requests in the order in which they arrived. */
  readonly received: Delivered[]
  /** Sets the response of a URL; 200 otherwise. */
  respond(url: string, response: () => Receipt | Promise<Receipt>): void
  /** Refuses new endpoints with this URL. */
  refuse(url: string, reason: string): void
}

export function createFakeReceivers(): FakeReceivers {
  const received: Delivered[] = []
  const responses = new Map<string, () => Receipt | Promise<Receipt>>()
  const refusals = new Map<string, string>()
  return {
    received,
    respond: (url, response) => void responses.set(url, response),
    refuse: (url, reason) => void refusals.set(url, reason),
    findRefusal: async (url) => refusals.get(url) ?? null,
    post: async ({ url, headers, body, signal }) => {
      received.push({ url, headers, body })
      const response = responses.get(url)?.() ?? { status: 200, retryAfterSeconds: null, answer: '' }
      const aborted = Promise.withResolvers<never>()
      signal?.addEventListener('abort', () => aborted.reject(signal.reason), { once: true })
      return Promise.race([response, aborted.promise])
    },
  }
}
