import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { rotateLog } from './rotate-logs.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-logs-'))
  path = join(folder, 'some.log')
})
afterEach(() => rmSync(folder, { recursive: true }))

const bytesMax = 1_000_000

it('a missing log, or one of at most half of its limit, is left alone', () => {
  rotateLog(path, bytesMax)
  writeFileSync(path, Buffer.alloc(bytesMax / 2))
  rotateLog(path, bytesMax)
  expect(statSync(path).size).toBe(bytesMax / 2)
  expect(existsSync(`${path}.1`)).toBe(false)
})

it('rotates the log of a process that keeps writing, and every line stays whole', async () => {
  const program = `
    let line = 0
    const more = () => {
      for (let count = 0; count < 2000; count++) console.log(String(line++).padStart(99, '.'))
      if (line < 100_000) return setImmediate(more)
      console.error('flooded')
      process.stdin.once('end', () => console.log('the last line')).resume()
    }
    more()`
  const log = openSync(path, 'a', 0o600)
  const writer = spawn(process.execPath, ['-e', program], { stdio: ['pipe', log, 'pipe'] })
  closeSync(log)
  let isFlooded = false
  void once(writer.stderr!, 'data').then(() => {
    isFlooded = true
  })
  let rotations = 0
  while (!isFlooded) {
    const before = statSync(path).size
    rotateLog(path, bytesMax)
    if (before > bytesMax / 2) rotations += 1
    await new Promise((resolve) => setImmediate(resolve))
  }
  const ended = once(writer, 'exit')
  writer.stdin!.end()
  await ended
  expect(rotations).toBeGreaterThan(1)
  expect(statSync(`${path}.1`).mode & 0o777).toBe(0o600)
  // No hole of NUL bytes at the offset where the process continued.
  const text = readFileSync(`${path}.1`, 'utf8') + readFileSync(path, 'utf8')
  expect(text).not.toContain('\0')
  expect(text.endsWith('the last line\n')).toBe(true)
})
