import { PassThrough } from 'node:stream'
import { bodyOf } from '@dock/foundation'
import { uncaughtDuring } from '@dock/testkit/src/uncaught-during.ts'
import { expect, it } from 'vitest'
import { outputLines } from './output-lines.ts'

it('leaves no error unhandled if its sources break while its reader waits', async () => {
  const bodies = [new PassThrough(), new PassThrough()] as const
  const outputs = bodies.map(
    (body, at) => ({ name: at ? 'stderr' : 'stdout', first: 0, start: 0, body }) as const,
  )
  const reader = bodyOf(outputLines(outputs), () => {
    for (const body of bodies) body.destroy()
  }).getReader()
  bodies[0].write('out')
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain('stdout')
  const breakLink = async (): Promise<void> => {
    for (const body of bodies) body.destroy(new Error('the link broke'))
    await Promise.all(
      bodies.map((body) => body.closed || new Promise((resolve) => body.once('close', resolve))),
    )
  }
  expect(await uncaughtDuring(breakLink)).toEqual([])
  await expect(reader.read()).rejects.toThrow('the link broke')
})

it('splits what came at once into short lines, each with its own offset', async () => {
  const body = new PassThrough()
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251))
  body.end(bytes)
  const seen: Buffer[] = []
  let at = 5
  for await (const line of outputLines([{ name: 'stdout', first: 0, start: 5, body }])) {
    expect(line.length).toBeLessThan(40_000)
    const { offset, data } = JSON.parse(line.toString()) as { offset: number; data?: string }
    expect(offset).toBe(at)
    seen.push(Buffer.from(data ?? '', 'base64'))
    at += seen.at(-1)!.length
  }
  expect(Buffer.concat(seen).equals(bytes)).toBe(true)
})
