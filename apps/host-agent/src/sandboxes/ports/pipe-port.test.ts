import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { Precedence } from '@dock/foundation'
import { expect, test } from 'vitest'
import { pipePort } from './pipe-port.ts'

test('a connection that closed while it was accepted closes the socket in the Dock', async () => {
  const [, accepted] = duplexPair()
  accepted.destroy()
  await once(accepted, 'close')
  const [, socket] = duplexPair()
  pipePort(socket, accepted, new Precedence())
  await new Promise<void>((resolve) => void socket.once('close', resolve))
  expect(socket.destroyed).toBe(true)
})
