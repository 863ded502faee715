/** The driver's access to a pump that dies at an odd moment. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { PumpClient } from './pump-client.ts'

test('a pump that dies while it is asked is replaced, and a program it never knew has no end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dock-pump-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const socketPath = join(folder, 'pump.sock')
  let dies = 0
  const dying = createServer((socket) => {
    dies += 1
    socket.once('data', () => {
      // As the kernel does with a connection of a process that ended.
      dying.close()
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => dying.listen(socketPath, resolve))
  const client = new PumpClient(socketPath)
  const wanted = { machine: 'none', socket: join(folder, 'no-port'), program: 7, pid: process.pid }
  // The next pump answers: these descriptors cannot be opened.
  const taking = client.take({ ...wanted, descriptors: [1_000_001, 1_000_002, 1_000_003] })
  await expect(taking).rejects.toThrow(/the pump failed: ENOENT/)
  expect(dies).toBe(1)
  expect(await client.endOf('none', 7)).toBeUndefined()
  await client.end()
})
