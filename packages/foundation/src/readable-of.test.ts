import { describe, expect, it } from 'vitest'
import { readableOf } from './readable-of.ts'

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('readableOf', () => {
  it('passes all bytes on', async () => {
    const parts = [Buffer.from('a'), new Uint8Array(0), Buffer.alloc(300_000, 'b')]
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const part of parts) controller.enqueue(part)
        controller.close()
      },
    })
    const read = await readableOf(body).toArray()
    expect(Buffer.concat(read).equals(Buffer.concat(parts))).toBe(true)
  })

  it('cancels the body when it is destroyed, also while a read is pending', async () => {
    for (const isPending of [false, true]) {
      const reasons: unknown[] = []
      const readable = readableOf(new ReadableStream({ cancel: (reason) => void reasons.push(reason) }))
      if (isPending) readable.resume()
      await settle()
      readable.destroy(new Error('enough'))
      await settle()
      expect(reasons).toEqual([new Error('enough')])
    }
  })

  it('fails with the error of the body, which ends no process if nobody listens', async () => {
    const readable = readableOf(
      new ReadableStream({ pull: () => Promise.reject(new Error('the caller left')) }),
    )
    readable.resume()
    await settle()
    expect(readable.errored).toEqual(new Error('the caller left'))
  })
})
