import { zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { unpackKernel } from './unpack-kernel.ts'

/** Makes a bzImage with two sectors of set-up code. */
const bzImage = (payload: Buffer): Buffer => {
  const header = Buffer.alloc(3 * 512)
  header[0x1f1] = 2
  header.write('HdrS', 0x202)
  header.writeUInt32LE(64, 0x248)
  header.writeUInt32LE(payload.length + 4, 0x24c)
  return Buffer.concat([header, Buffer.alloc(64), payload, Buffer.from('size'), Buffer.alloc(100, 'z')])
}
const kernel = Buffer.from(`\x7fELF${'k'.repeat(1000)}`, 'latin1')

test('the kernel is unpacked from between its set-up code and what follows it', () => {
  expect(unpackKernel(bzImage(zstdCompressSync(kernel)))).toEqual(kernel)
})

test.each([
  ['no bzImage', Buffer.alloc(2048)],
  ['not compressed with zstd', bzImage(Buffer.from('another form'))],
  ['no ELF file', bzImage(zstdCompressSync(Buffer.from('something else')))],
])('a file that has %s is refused', (reason, file) => {
  expect(() => unpackKernel(file)).toThrow(reason)
})
