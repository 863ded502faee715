import { expect, it } from 'vitest'
import { readJsonBody } from './read-body.ts'

const requestWith = (body: ReadableStream<Uint8Array>): Request =>
  new Request('http://dock.test', { method: 'POST', body, duplex: 'half' } as RequestInit)

it('a body that breaks off is the end of its caller, not a fault of the database', async () => {
  const reset = Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('{"name":')),
    pull: () => Promise.reject(reset),
  })
  await expect(readJsonBody(requestWith(body), 1000)).rejects.toMatchObject({
    ...{ code: 'validation_error', status: 400, cause: reset },
  })
})
