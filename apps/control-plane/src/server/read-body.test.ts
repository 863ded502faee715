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
    code: 'validation_error',
    status: 400,
    cause: reset,
  })
})

const jsonOf = (text: string, ofBytes?: boolean) =>
  readJsonBody(new Request('http://dock.test', { method: 'POST', body: text }), 1000, ofBytes)

it.each(['{"a":"\\ud800"}', '{"\\udc80":1}', '{"a":["x\\udc80y"]}', '{"a":"\\u0000"}'])(
  'refuses what PostgreSQL cannot store: %s',
  async (text) => {
    await expect(jsonOf(text)).rejects.toMatchObject({ code: 'validation_error' })
  },
)

it('accepts pairs of surrogates, and single ones only where they stand for bytes', async () => {
  expect(await jsonOf('{"a":"\\ud83e\\udd80"}')).toEqual({ a: '🦀' })
  expect(await jsonOf('{"a":"\\udcff"}', true)).toEqual({ a: '\udcff' })
})
