import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { checkPort } from './check-port.ts'

it('rejects a port that is in use and says what to do, and accepts a free one', async () => {
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
  const address = holder.address()
  const port = address && typeof address === 'object' ? address.port : 0
  await expect(checkPort('127.0.0.1', port)).rejects.toThrow(/is taken .* PORT=/)
  await new Promise((resolve) => holder.close(resolve))
  await expect(checkPort('127.0.0.1', port)).resolves.toBeUndefined()
})
