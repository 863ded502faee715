import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { withClientLocale } from './client-locale.ts'

const run = async (variables: Record<string, string>) => {
  const argv = withClientLocale(variables, 'echo "$LANG $LC_TIME $LC_PAPER"')
  const [program, ...args] = argv!
  const env = { PATH: process.env.PATH, HOME: '/', ...variables }
  return promisify(execFile)(program, args, { env })
}

test('a locale that is missing becomes C.UTF-8, without a warning', async () => {
  const given = { LANG: 'xx_XX.UTF-8', LC_TIME: 'xx_XX.UTF-8', LC_PAPER: '$(id) x' }
  expect(await run(given)).toEqual({ stdout: 'C.UTF-8 C.UTF-8 C.UTF-8\n', stderr: '' })
})

test('a locale that exists stays', async () => {
  expect(await run({ LANG: 'xx_XX.UTF-8', LC_TIME: 'C.utf8', LC_PAPER: '' })).toMatchObject({
    stdout: 'C.UTF-8 C.utf8 \n',
  })
})

test('usual locales and other variables need no check', () => {
  expect(
    withClientLocale({ LANG: 'C.UTF-8', LC_ALL: 'POSIX', TERM: 'xx_XX', LC_X: '' }, 'true'),
  ).toBeUndefined()
  expect(withClientLocale({ LANG: 'de_DE.UTF-8' }, undefined)?.slice(-2)).toEqual(['/bin/bash', '-l'])
})
