import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { createLogger } from './logger.ts'

it('blanks secrets out by name, at any of three depths', () => {
  const lines: string[] = []
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk))
      done()
    },
  })
  const logger = createLogger('test', sink)
  logger.info(
    { password: 'canary', a: { apiKey: 'canary', b: { token: 'canary' } }, dockId: 'shown' },
    'hello',
  )
  expect(lines.join('')).toContain('shown')
  expect(lines.join('')).not.toContain('canary')
})
