/** The end of a connection whose request is refused. */
import type { Duplex } from 'node:stream'
import { type Clock, systemClock } from './clock.ts'

type RefuseOptions = {
  clock?: Clock
  /** Time for the client to read the refusal and to close its half, in milliseconds. */
  lingerMs?: number
}

/** Cuts the connection off after `lingerMs`, unless it is closed by then: a client may neither read nor close. */
export function destroySoon(
  socket: Duplex,
  { clock = systemClock, lingerMs = 5_000 }: RefuseOptions = {},
): void {
  socket.on('error', () => socket.destroy())
  socket.once(
    'close',
    clock.after(lingerMs, () => socket.destroy()),
  )
}

/**
 * Sends the refusal and ends this half of the connection. Drops what the client still sends: the kernel resets a
 * connection that is closed with unread bytes, and the client may never see the refusal (RFC 9112, section 9.6).
 */
export function refuseSocket(socket: Duplex, refusal: string, options?: RefuseOptions): void {
  if (!socket.writable) return void socket.destroy()
  destroySoon(socket, options)
  socket.end(refusal)
  socket.resume()
}
