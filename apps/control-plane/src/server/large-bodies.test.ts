import { expect, it } from 'vitest'
import { createLargeBodies } from './large-bodies.ts'

const limits = { bytesMax: 100, smallBytesMax: 10, atOnceMax: 2 }

/** A request whose body arrives when the test says so. `announced` is its Content-Length. */
const sending = (announced?: number) => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  writer.write(new Uint8Array()).catch(() => undefined)
  const headers = announced === undefined ? undefined : { 'content-length': String(announced) }
  const init = { method: 'POST', body: readable, duplex: 'half', headers }
  return {
    request: new Request('https://dock.example.test', init as RequestInit),
    send: (length: number) => writer.write(new Uint8Array(length)),
    end: () => writer.close(),
  }
}
const busy = { code: 'service_unavailable', status: 503, retryAfterSeconds: 10 }

it('reads as many large bodies at once as allowed, and refuses others until one is done', async () => {
  const bodies = createLargeBodies(limits)
  const done = Promise.withResolvers<void>()
  const hold = async (read: () => Promise<Uint8Array>) => {
    const { length } = await read()
    await done.promise
    return length
  }
  const [first, second] = [sending(20), sending()]
  const held = [first, second].map(({ request }) => bodies.use(request, hold))
  for (const { send, end } of [first, second]) {
    await send(20)
    await end()
  }
  const announced = sending(11)
  await expect(bodies.use(announced.request, (read) => read())).rejects.toMatchObject(busy)
  const unknown = sending()
  const refused = expect(bodies.use(unknown.request, (read) => read())).rejects.toMatchObject(busy)
  await unknown.send(10)
  await unknown.send(1).catch(() => undefined)
  await refused
  const small = sending(10)
  const read = bodies.use(small.request, (readBody) => readBody())
  await small.send(10)
  await small.end()
  expect(await read).toHaveLength(10)

  done.resolve()
  expect(await Promise.all(held)).toEqual([20, 20])
  const next = sending(20)
  const later = bodies.use(next.request, (readBody) => readBody())
  await next.send(20)
  await next.end()
  expect(await later).toHaveLength(20)
})

it('frees the place of a body that is too long', async () => {
  const bodies = createLargeBodies({ ...limits, atOnceMax: 1 })
  for (let time = 0; time < 3; time += 1) {
    const { request, send } = sending()
    const refused = expect(bodies.use(request, (read) => read())).rejects.toMatchObject({
      code: 'validation_error',
    })
    await send(60)
    await send(60).catch(() => undefined)
    await refused
  }
})
