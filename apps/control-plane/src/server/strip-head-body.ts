/**
 * Removes the body of a response to HEAD, which runs the handler of GET. The body is cancelled; otherwise its source
 * (a process and a stream on a host) would wait for a reader forever.
 */
export async function stripHeadBody(method: string, response: Response): Promise<Response> {
  if (method !== 'HEAD') return response
  await response.body?.cancel()
  return new Response(null, response)
}
