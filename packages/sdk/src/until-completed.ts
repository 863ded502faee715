import type { Client } from './client.ts'
import type { Operation } from './generated/route-types.ts'
import { pause } from './pause.ts'
import { untilReached } from './until-reached.ts'

/** Waits until an operation of the service is completed. */
export async function untilCompleted(
  client: Client,
  { id }: Pick<Operation, 'id'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let wait = 50; ; wait = Math.min(1000, wait * 1.5)) {
    const { status } = await untilReached(signal, () =>
      client.call('readOperation', { params: { id }, signal }),
    )
    if (status === 'completed') return
    await pause(wait, signal)
  }
}
