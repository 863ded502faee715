import { expect, it, vi } from 'vitest'
import { createEventStream } from './event-stream.ts'

it('disconnects a reader that reads nothing, after a bounded number of bytes', async () => {
  const onClose = vi.fn()
  const stream = createEventStream(onClose)
  let sent = 0
  while (onClose.mock.calls.length === 0 && sent < 1000) {
    stream.send('changes', '1:1:', 'x'.repeat(1000))
    sent++
  }
  expect(sent).toBeLessThan(80)
  expect(onClose).toHaveBeenCalledOnce()
})

it('calls onClose once, also if both sides close', async () => {
  const onClose = vi.fn()
  const stream = createEventStream(onClose)
  await stream.body.cancel()
  stream.close()
  stream.send('changes', '1:1:', [])
  expect(onClose).toHaveBeenCalledOnce()
})
