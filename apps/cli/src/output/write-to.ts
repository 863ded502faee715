/** Writes as fast as the reader of a stream reads, so that nothing piles up in memory. */
import { once } from 'node:events'
import type { Sink } from './sink.ts'

export async function writeTo(sink: Pick<Sink, 'write'>, bytes: Uint8Array): Promise<void> {
  if (!sink.write(bytes) && 'once' in sink) await once(sink as unknown as NodeJS.WriteStream, 'drain')
}
