import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { OutputPipe } from './output-pipe.ts'

const megabyte = 1024 * 1024

/** Runs the command with the pipe as its output, and waits for its end. */
const write = async (pipe: OutputPipe, command: string): Promise<void> => {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', pipe.writeFd, 'inherit'] })
  pipe.closeWriter()
  await once(child, 'exit')
}

test('keeps output up to the limit and passes it on as it arrives', async () => {
  const told: Buffer[] = []
  const pipe = new OutputPipe(10, (chunk) => void told.push(chunk))
  await write(pipe, 'printf 1234567; sleep 0.1; printf 89abcdef')
  expect([pipe.finish().toString(), pipe.truncated]).toEqual(['123456789a', true])
  expect(Buffer.concat(told).toString()).toBe('123456789a')
  const short = new OutputPipe(10)
  await write(short, 'printf 1234567')
  expect([short.finish().toString(), short.truncated]).toEqual(['1234567', false])
})

test('a flood of output uses little memory', async () => {
  const pipe = new OutputPipe(megabyte)
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  let isOver = false
  const flood = write(pipe, `yes | head -c ${256 * megabyte}`).then(() => {
    isOver = true
  })
  while (!isOver) {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    await delay(1)
  }
  await flood
  expect(pipe.finish().length).toBe(megabyte)
  expect(most).toBeLessThan(4 * megabyte)
}, 60_000)
