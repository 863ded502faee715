/** GET /events: the inventory, then heartbeats, deaths at once, and the inventory again each minute. */
import type { HostEvent } from '@dock/host-protocol'
import type { HostView } from './host-view.ts'

const heartbeatMs = 3_000
const inventoryMs = 60_000

const readInventory = async (view: HostView): Promise<HostEvent> => {
  const [facts, pressure, { captures }] = await Promise.all([
    view.facts(),
    view.pressure(),
    view.disks.list(),
  ])
  return { type: 'inventory', facts, pressure, runtimes: view.docks.reports(), pool: [], captures }
}

const readHeartbeat = async (view: HostView): Promise<HostEvent> => {
  const running = view.docks.reports().filter((report) => report.state === 'running').length
  return { type: 'heartbeat', pressure: await view.pressure(), running }
}

/** Lines of JSON until the reader cancels. */
export const createEventStream = (view: HostView): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  const timers: NodeJS.Timeout[] = []
  let stopListening = () => {}
  const end = () => {
    for (const timer of timers.splice(0)) clearInterval(timer)
    stopListening()
  }
  return new ReadableStream({
    async start(controller) {
      const send = (event: HostEvent) => {
        controller.enqueue(encoder.encode(`${JSON.stringify(event)}\n`))
      }
      const sendRead = (read: Promise<HostEvent>) =>
        read.then(send).catch((error: unknown) => {
          // The reader dials again and begins with a fresh inventory.
          end()
          view.logger.warn({ err: error }, 'event stream ended')
          try {
            controller.error(error)
          } catch {
            // It was closed before.
          }
        })
      // Deaths during the first reading are in the inventory, or follow it; a repeated word is harmless.
      const early: HostEvent[] = []
      let isOpen = false
      stopListening = view.events.listen((event) => {
        if (isOpen) send(event)
        else early.push(event)
      })
      await sendRead(readInventory(view))
      isOpen = true
      for (const event of early) send(event)
      timers.push(setInterval(() => void sendRead(readHeartbeat(view)), heartbeatMs))
      timers.push(setInterval(() => void sendRead(readInventory(view)), inventoryMs))
    },
    cancel: end,
  })
}
