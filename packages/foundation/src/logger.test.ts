import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { createLogger, linesTo } from './logger.ts'

it('redacts secret fields at three levels of nesting', () => {
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

it('keeps running when the disk is full', () => {
  const program = `import { createLogger } from '${new URL('logger.ts', import.meta.url)}'
    const logger = createLogger('test')
    for (let line = 0; line < 100; line++) logger.info('a line')
    console.log('still running')`
  const full = openSync('/dev/full', 'w')
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', full],
    timeout: 20_000,
    encoding: 'utf8',
  })
  closeSync(full)
  expect([signal, stdout]).toEqual([null, 'still running\n'])
})

it('starts a new line after a partly written one, once the disk has room', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dock-logger-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4096', 'tmpfs', folder])
  try {
    const path = join(folder, 'log')
    const log = openSync(path, 'a')
    const lines = linesTo(log)
    for (let line = 0; line < 10; line++) lines.write(`${'x'.repeat(999)}\n`)
    expect(readFileSync(path).length).toBe(4096)
    writeFileSync(path, readFileSync(path).subarray(0, 1500))
    lines.write('whole\n')
    closeSync(log)
    expect(readFileSync(path, 'utf8').split('\n').slice(1)).toEqual(['x'.repeat(500), 'whole', ''])
  } finally {
    execFileSync('umount', [folder])
    rmSync(folder, { recursive: true })
  }
})
