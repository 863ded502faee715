/** GET /events: the inventory, then heartbeats, what happens at once, and the inventory again each minute. */
import { capturesInInventoryMax, type HostEvent } from '@dock/host-protocol'
import type { HostView } from './host-view.ts'

const heartbeatMs = 3_000
const inventoryMs = 60_000

/** Sent in the very moment in which Docks and pool are read: what happens before is in it, what happens after follows. */
const sendInventory = async (view: HostView, send: (event: HostEvent) => void): Promise<void> => {
  const read = Promise.all([view.facts(), view.disks.list(), view.instance.read()])
  const [facts, { captures: kept }, { watermark: remembered }] = await read
  const captures = kept.length > capturesInInventoryMax ? null : kept
  const [runtimes, pool] = [view.docks.reports(), view.warmPool.reports()]
  send({ type: 'inventory', facts, pressure: view.pressure(), runtimes, pool, captures, remembered })
}

const sendHeartbeat = async (view: HostView, send: (event: HostEvent) => void): Promise<void> => {
  const running = view.docks.reports().filter((report) => report.state === 'running').length
  send({ type: 'heartbeat', pressure: view.pressure(), running })
}

/** Lines of JSON until the reader cancels. */
export function createEventStream(view: HostView): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const timers: NodeJS.Timeout[] = []
  let stopListening = () => {}
  let hasEnded = false
  const end = () => {
    hasEnded = true
    for (const timer of timers.splice(0)) clearInterval(timer)
    stopListening()
  }
  return new ReadableStream({
    async start(controller) {
      const send = (event: HostEvent) => {
        controller.enqueue(encoder.encode(`${JSON.stringify(event)}\n`))
      }
      const orEnd = (sent: Promise<void>) =>
        sent.catch((error: unknown) => {
          // The reader dials again and begins with a fresh inventory.
          end()
          view.logger.warn({ err: error }, 'event stream ended')
          try {
            controller.error(error)
          } catch {
            // It was closed before.
          }
        })
      await orEnd(
        sendInventory(view, (inventory) => {
          send(inventory)
          stopListening = view.events.listen(send)
        }),
      )
      if (hasEnded) return
      timers.push(setInterval(() => void orEnd(sendHeartbeat(view, send)), heartbeatMs))
      timers.push(setInterval(() => void orEnd(sendInventory(view, send)), inventoryMs))
    },
    cancel: end,
  })
}
