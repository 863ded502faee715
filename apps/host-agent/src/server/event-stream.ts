/** GET /events: an inventory, then heartbeats and events as they happen, and a new inventory every minute and when images change. */
import { capturesInInventoryMax, type HostEvent, runtimesMax } from '@dock/host-protocol'
import type { HostView } from './host-view.ts'

const heartbeatMs = 3_000
const inventoryMs = 60_000

/** Reads Docks and pool and sends them without an await in between, so that later events describe later changes. */
const sendInventory = async (view: HostView, send: (event: HostEvent) => void): Promise<void> => {
  const read = Promise.all([view.facts(), view.disks.list(), view.instance.read()])
  const [facts, { captures: kept }, { watermark: remembered }] = await read
  const captures = kept.length > capturesInInventoryMax ? null : kept
  const [runtimes, pool] = [view.docks.reports(), view.warmPool.reports()]
  const unidentified = view.docks.unidentified().slice(0, runtimesMax)
  send({
    ...{ type: 'inventory', facts, pressure: view.pressure(), runtimes, pool, captures, remembered },
    ...(unidentified.length > 0 ? { unidentified } : {}),
  })
}

const sendHeartbeat = async (view: HostView, send: (event: HostEvent) => void): Promise<void> => {
  const running = view.docks.reports().filter((report) => report.state === 'running').length
  send({ type: 'heartbeat', pressure: view.pressure(), running })
}

/** Streams events as lines of JSON until the reader cancels. */
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
      const endOnError = (sent: Promise<void>) =>
        sent.catch((error: unknown) => {
          // The reader reconnects and starts with a new inventory.
          end()
          view.logger.warn({ err: error }, 'event stream failed')
          try {
            controller.error(error)
          } catch {
            // The stream is already closed.
          }
        })
      await endOnError(
        sendInventory(view, (inventory) => {
          send(inventory)
          const ends = [
            view.events.listen(send),
            view.imageChanges.listen(() => void endOnError(sendInventory(view, send))),
          ]
          stopListening = () => {
            for (const end of ends) end()
          }
        }),
      )
      if (hasEnded) return
      timers.push(setInterval(() => void endOnError(sendHeartbeat(view, send)), heartbeatMs))
      timers.push(setInterval(() => void endOnError(sendInventory(view, send)), inventoryMs))
    },
    cancel: end,
  })
}
