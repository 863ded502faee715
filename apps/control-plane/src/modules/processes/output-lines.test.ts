import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { outputLines } from './output-lines.ts'
import { streamOf } from './stream-of.ts'

const unhandled: unknown[] = []
const keep = (error: unknown): void => void unhandled.push(error)
let former: NodeJS.UnhandledRejectionListener[]
beforeEach(() => {
  former = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', keep)
})
afterEach(() => {
  process.off('unhandledRejection', keep)
  for (const listener of former) process.on('unhandledRejection', listener)
})

it('leaves no error unhandled if its sources break while its reader waits', async () => {
  const bodies = [new PassThrough(), new PassThrough()] as const
  const outputs = bodies.map(
    (body, at) => ({ name: at ? 'stderr' : 'stdout', first: 0, start: 0, body }) as const,
  )
  const reader = streamOf(outputLines(outputs), bodies).getReader()
  bodies[0].write('out')
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain('stdout')
  for (const body of bodies) body.destroy(new Error('the link broke'))
  await Promise.all(bodies.map((body) => body.closed || once(body, 'close')))
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(unhandled).toEqual([])
  await expect(reader.read()).rejects.toThrow('the link broke')
})
