import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { lastFatalMessage } from './fatal-message.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-log-'))
  path = join(folder, 'program.log')
})
afterEach(() => rmSync(folder, { recursive: true }))

const line = (level: number, message: string, time = 2): string =>
  JSON.stringify({ level, time, err: { message }, msg: 'text' })

it('returns the message of the last fatal line', () => {
  const lines = [
    line(60, 'PORT: too large'),
    'no JSON',
    line(50, 'an error'),
    line(60, 'PORT: too small'),
    '',
  ]
  writeFileSync(path, `${'x'.repeat(100_000)}\n${lines.join('\n')}`)
  expect(lastFatalMessage(path, 2)).toBe('PORT: too small')
})

it('returns nothing from a log without a fatal line, or without a log', () => {
  expect(lastFatalMessage(path, 2)).toBeUndefined()
  writeFileSync(path, `${line(50, 'an error')}\n${line(60, 'of an earlier start', 1)}\nnull\n`)
  expect(lastFatalMessage(path, 2)).toBeUndefined()
})

it('shows no control characters and no endless message', () => {
  writeFileSync(path, line(60, `\u001b[2Jcleared\n${'y'.repeat(1_000)}`))
  expect(lastFatalMessage(path, 2)).toBe(` [2Jcleared ${'y'.repeat(488)}`)
})
