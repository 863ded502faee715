import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ProcessOutput } from './process-output.ts'

/** Returns a function that ends the program. */
const start = (output: ProcessOutput, command: string): (() => void) => {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', output.writeFd, 'inherit'] })
  output.closeWriter()
  child.once('exit', () => output.endAfterContent())
  return () => void child.kill()
}

test('what a program writes in many small pieces arrives complete, in few large ones', async () => {
  const output = new ProcessOutput()
  start(output, 'dd if=/dev/zero bs=4096 count=8192 2>/dev/null')
  let [bytes, pieces] = [0, 0]
  for await (const piece of output) {
    bytes += (piece as Buffer).length
    pieces += 1
  }
  expect(bytes).toBe(8192 * 4096)
  expect(pieces).toBeLessThan(8192 / 4)
})

test('what a program writes and then waits is read without the end of the program', async () => {
  const output = new ProcessOutput()
  const end = start(output, 'for n in 1 2 3 4 5; do echo $n; done; exec sleep 300')
  let said = ''
  for await (const piece of output) {
    said += piece
    if (said === '1\n2\n3\n4\n5\n') break
  }
  end()
  expect(output.destroyed).toBe(true)
})

test('answers to input are read at once, however fast they follow each other', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const input = { bytesWritten: 0 }
  const output = new ProcessOutput(input)
  onTestFinished(() => void output.destroy())
  for (const answer of ['one', 'two', 'three', 'four']) {
    input.bytesWritten += 1
    writeSync(output.writeFd, answer)
    expect(String((await once(output, 'data'))[0])).toBe(answer)
  }
})
