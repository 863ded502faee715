import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readTook, scriptOf, works } from './works.ts'

const home = mkdtempSync(join(tmpdir(), 'dock-works-'))
afterAll(() => rmSync(home, { recursive: true }))

const run = (script: string) =>
  spawnSync('bash', ['-c', script], { env: { ...process.env, HOME: home }, encoding: 'utf8' })

it('times the work without its preparation', () => {
  const { stdout } = run(scriptOf({ name: 'short', prepare: 'sleep 0.5', work: 'sleep 0.05' }))
  expect(readTook(stdout)).toBeGreaterThanOrEqual(50)
  expect(readTook(stdout)).toBeLessThan(500)
})

it('fails with the work', () => {
  expect(run(scriptOf({ name: 'wrong', work: 'false' })).status).not.toBe(0)
})

it('reads the time between the frames of podman', () => {
  expect(readTook('\u0001\0\0\0\0\0\0\u000ctook 1500\n')).toBe(1.5)
  expect(() => readTook('nothing')).toThrow('printed no time')
})

it('has works whose scripts bash can parse', () => {
  // Bash only warns of a text that has no end.
  for (const work of works)
    expect(spawnSync('bash', ['-n', '-c', scriptOf(work)], { encoding: 'utf8' }).stderr).toBe('')
})
