/** A fetch that reports the bytes of all bodies, for the bars of transfers. */

const counted = (
  body: ReadableStream<Uint8Array>,
  report: (bytes: number) => void,
): ReadableStream<Uint8Array> =>
  body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        report(chunk.byteLength)
        controller.enqueue(chunk)
      },
    }),
  )

/** Returns a fetch that calls `sent` and `received` with numbers of bytes. */
export function countingFetch(
  sent: (bytes: number) => void,
  received: (bytes: number) => void,
): typeof fetch {
  return async (input, init) => {
    const { body } = init ?? {}
    const isStream = body instanceof ReadableStream
    const response = await fetch(
      input,
      isStream ? { ...init, body: counted(body as ReadableStream<Uint8Array>, sent) } : init,
    )
    if (!response.body || !/octet-stream|x-tar/.test(response.headers.get('content-type') ?? ''))
      return response
    const { status, statusText, headers } = response
    return new Response(counted(response.body, received), { status, statusText, headers })
  }
}
