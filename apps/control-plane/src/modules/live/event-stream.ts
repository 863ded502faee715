/** One open stream of server-sent events (HTML standard, section 9.2). */

/** Bytes that may wait for a reader. A slower reader is disconnected, and continues from its cursor. */
const waitingBytesMax = 64 * 1024

const encoder = new TextEncoder()

export type EventStream = {
  readonly body: ReadableStream<Uint8Array>
  /** Sends an event. `data` is sent as JSON. Closes the stream if its reader is too slow. */
  send(event: string, id: string, data: unknown): void
  close(): void
}

/** Creates a stream. `onClose` is called once, when either side has closed it. */
export function createEventStream(onClose: () => void): EventStream {
  let controller!: ReadableStreamDefaultController<Uint8Array>
  let isOpen = true
  const end = (): void => {
    if (!isOpen) return
    isOpen = false
    onClose()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given
      },
      cancel: end,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: waitingBytesMax }),
  )
  const close = (): void => {
    if (!isOpen) return
    controller.close()
    end()
  }
  controller.enqueue(encoder.encode('retry: 1000\n\n'))
  return {
    body,
    send: (event, id, data) => {
      if (!isOpen) return
      if ((controller.desiredSize ?? 0) <= 0) return close()
      controller.enqueue(encoder.encode(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`))
    },
    close,
  }
}
