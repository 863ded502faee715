import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRunsc } from '../runsc/runsc.ts'
import { createRunscTransport } from './runsc-transport.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-requests-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const command = { argv: ['/bin/true'], env: { SECRET: 'x' }, cwd: '/', uid: 0, gid: 0, alsoBounding: [] }

test('requests are in a private folder, and requests of a killed process are removed', async () => {
  const seen = join(folder, 'seen')
  const program = join(folder, 'runsc')
  writeFileSync(
    program,
    `#!/bin/sh\nfor word; do case $word in --process=*) echo "\${word#--process=}" >${seen} ;; esac; done\n`,
  )
  chmodSync(program, 0o700)
  const stateDir = join(folder, 'state')
  mkdirSync(join(stateDir, 'exec-1073741824'), { recursive: true })
  writeFileSync(join(stateDir, 'exec-1073741824/left.json'), '{}')
  utimesSync(join(stateDir, 'exec-1073741824'), 1, 1)

  const transport = createRunscTransport(
    () => ({ runsc: createRunsc(program, folder, join(folder, 'panic')), name: 'sandbox' }),
    stateDir,
  )
  const { ended } = await transport.start('id', command, [0, 1, 2])
  expect(await ended).toBe(0)
  const request = readFileSync(seen, 'utf8').trim()
  expect(request.startsWith(`${stateDir}/`)).toBe(true)
  expect(statSync(dirname(request)).mode & 0o777).toBe(0o700)
  expect([existsSync(request), existsSync(join(stateDir, 'exec-1073741824'))]).toEqual([false, false])
})

/** A transport whose `runsc exec` runs this script with the file for the command's number as `$file`. */
const transportOf = (script: string) => {
  const program = join(folder, 'runsc')
  const findFile = `for word; do case $word in --internal-pid-file=*) file=\${word#*=} ;; esac; done`
  writeFileSync(program, `#!/bin/sh\n${findFile}\n${script}\n`)
  chmodSync(program, 0o700)
  return createRunscTransport(
    () => ({ runsc: createRunsc(program, folder, join(folder, 'panic')), name: 'sandbox' }),
    join(folder, 'state'),
  )
}

test('the number of a command is known while it runs, once runsc has written it', async () => {
  const go = join(folder, 'go')
  const transport = transportOf(
    `sleep 0.2; printf 42 >"$file"; for n in $(seq 500); do [ -e ${go} ] && exit; sleep 0.01; done`,
  )
  const { pid, ended } = await transport.start('id', command, [0, 1, 2])
  expect(await pid()).toBe(42)
  writeFileSync(go, '')
  expect(await ended).toBe(0)
})

test('a command that never started has no number', async () => {
  const { pid, ended } = await transportOf('exit 128').start('id', command, [0, 1, 2])
  expect([await pid(), await ended]).toEqual([0, 'refused'])
})
