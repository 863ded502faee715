import { writeSync } from 'node:fs'
import { expect, test } from 'vitest'
import { TerminalOutput } from './terminal-output.ts'

test('the first line is the header, and the rest is kept for the listener', async () => {
  const output = new TerminalOutput()
  writeSync(output.writeFd, '42\r\nprompt ')
  expect(await output.header).toBe('42')
  let seen = ''
  output.listen((chunk) => {
    seen += chunk
  })
  expect(seen).toBe('prompt ')
  writeSync(output.writeFd, 'more')
  output.closeWriter()
  await output.closed
  expect(seen).toBe('prompt more')
})

test('a paused output delivers everything after it is resumed', async () => {
  const output = new TerminalOutput()
  writeSync(output.writeFd, 'header\n')
  await output.header
  let bytes = 0
  output.listen((chunk) => {
    bytes += chunk.length
  })
  output.pause()
  writeSync(output.writeFd, Buffer.alloc(60_000))
  output.closeWriter()
  await new Promise((resolve) => setImmediate(resolve))
  expect(bytes).toBe(0)
  output.resume()
  await output.closed
  expect(bytes).toBe(60_000)
})

test('output that ends without a line break has no header', async () => {
  const output = new TerminalOutput()
  writeSync(output.writeFd, 'no line')
  output.closeWriter()
  expect(await output.header).toBeUndefined()
})

test('a header without an end is not kept', async () => {
  const output = new TerminalOutput()
  writeSync(output.writeFd, Buffer.alloc(60_000, 'x'))
  expect(await output.header).toBeUndefined()
  await output.closed
  output.destroy()
})
