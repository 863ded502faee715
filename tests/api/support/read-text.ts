/** Types of responses that last until the caller leaves. */
const endless = ['application/x-ndjson', 'text/event-stream']

/** Returns the body of a response, or an empty text if it may last until the caller leaves. */
export async function readText(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  if (!endless.some((name) => type.startsWith(name))) return response.text()
  await response.body?.cancel()
  return ''
}
