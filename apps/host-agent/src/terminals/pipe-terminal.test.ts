import { duplexPair } from 'node:stream'
import { createFakeTerminal } from '@dock/testkit/src/runtime/fake-terminal.ts'
import { expect, test } from 'vitest'
import { pipeTerminal } from './pipe-terminal.ts'

/** Long, for a busy machine. */
const patiently = { timeout: 60_000 }

test('pauses the writer while the program does not read', async () => {
  const untaken: (() => void)[] = []
  let received = 0
  const terminal = createFakeTerminal({ env: {}, cwd: '/', uid: 1, gid: 1, cols: 80, rows: 24 })
  const [near, far] = duplexPair()
  pipeTerminal(
    {
      terminal: {
        ...terminal,
        write: (data, taken = () => undefined) => {
          received += data.length
          untaken.push(taken)
        },
      },
      ended: terminal.exited,
    },
    far,
  )
  const total = 4 * 1024 * 1024
  let sent = 0
  const more = (): void => {
    while (sent < total) {
      sent += 16 * 1024
      if (!near.write(Buffer.alloc(16 * 1024))) return void near.once('drain', more)
    }
  }
  more()
  await expect.poll(() => received, patiently).toBeGreaterThanOrEqual(64 * 1024)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(received).toBeLessThan(512 * 1024)
  while (received < total) {
    for (const taken of untaken.splice(0)) taken()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(received).toBe(total)
  terminal.kill()
})
