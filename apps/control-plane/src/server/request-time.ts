/** The time in which a request must arrive completely. Routes that stream their body lift it. */
import type { IncomingMessage } from 'node:http'
import { refuseSocket } from '@dock/foundation'

const timedOut = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

const timers = new WeakMap<object, NodeJS.Timeout>()

/** Refuses a request whose body has not arrived after `requestMs`. Returns a function that cancels the timer. */
export function limitRequestTime(request: IncomingMessage, requestMs: number): () => void {
  const timer = setTimeout(() => {
    if (!request.complete) refuseSocket(request.socket, timedOut)
  }, requestMs)
  timers.set(request, timer)
  return () => clearTimeout(timer)
}

/** Lets the body of the request arrive for as long as its handler reads it. */
export function liftRequestTime(request: object | undefined): void {
  if (request) clearTimeout(timers.get(request))
}
