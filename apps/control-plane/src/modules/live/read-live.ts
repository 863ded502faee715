/** GET /api/live */
import { limits, ServiceError } from '@dock/contract'
import type { Caller } from '../accounts/index.ts'
import type { LiveHub } from './live-hub.ts'

export type LiveContext = { hub: LiveHub }

/** Returns a stream of the changes that the caller may see. Throws `rate_limited` if too many streams are open. */
export async function readLive(
  { hub }: LiveContext,
  caller: Caller,
  cursor: string | undefined,
): Promise<{ body: ReadableStream<Uint8Array>; contentType: string; headers: Record<string, string> }> {
  const { streamsPerPersonMax, streamsMax } = limits.live
  if (hub.count(caller.userId) >= streamsPerPersonMax || hub.count() >= streamsMax)
    throw new ServiceError('rate_limited', { message: 'Too many pages are open. Close one of them.' })
  return {
    body: await hub.open(caller, cursor),
    contentType: 'text/event-stream; charset=utf-8',
    headers: { 'x-accel-buffering': 'no' },
  }
}
