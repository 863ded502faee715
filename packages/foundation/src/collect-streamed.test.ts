import { constants, PerformanceObserver } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { collectStreamed } from './collect-streamed.ts'

test('a gigabyte of short-lived buffers causes few full collections', async () => {
  let full = 0
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if ((Reflect.get(entry, 'detail') as { kind: number }).kind === constants.NODE_PERFORMANCE_GC_MAJOR)
        full += 1
  })
  observer.observe({ entryTypes: ['gc'] })
  const pieceBytes = 64 * 1024
  for (let at = 0; at < 16_384; at += 1) {
    const piece = Buffer.allocUnsafeSlow(pieceBytes)
    collectStreamed(piece.length)
    if (at % 256 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await new Promise((resolve) => setTimeout(resolve))
  observer.disconnect()
  // Eight or more without it.
  expect(full).toBeLessThan(4)
})
