import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { exitCodes } from './exit-codes.ts'

const main = new URL('../main.ts', import.meta.url).pathname
/** `word` is a word of bash. */
const dock = (word: string) =>
  spawnSync('bash', ['-c', `exec "$0" "$1" cp ${word} web:`, process.execPath, main], {
    env: { ...process.env, DOCK_URL: 'http://127.0.0.1:1', DOCK_API_KEY: 'k' },
    encoding: 'utf8',
  })

it.runIf(process.platform === 'linux')('refuses an argument that is not UTF-8 and says what to do', () => {
  const { status, stderr } = dock(String.raw`$'caf\xe9'`)
  expect(stderr).toContain('is not UTF-8')
  expect(stderr).toContain('dock cp copies the folder')
  expect(status).toBe(exitCodes.usage)
})

it('takes the replacement character itself', () => {
  expect(dock(`'café �'`).stderr).not.toContain('UTF-8')
})
