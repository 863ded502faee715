/**
 * The response as the method wants it. HEAD is answered by the route of GET: its body is cancelled at once, or whatever
 * makes it (a process and a stream on a host) would wait for a reader for ever.
 */
export async function forMethod(method: string, response: Response): Promise<Response> {
  if (method !== 'HEAD') return response
  await response.body?.cancel()
  return new Response(null, response)
}
