import { execFile, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { ptyProgram, resizeProgram } from './pty-program.ts'

it('a resize waits until the first size was set', async () => {
  const wait = `for try in {1..50}; do [ "$(stty size)" = '20 100' ] && break; sleep 0.05; done; stty size`
  const { argv, env } = ptyProgram(
    ['/bin/bash', '-c', wait],
    { PATH: '/usr/bin:/bin' },
    { cols: 80, rows: 24 },
  )
  // As if the machine were busy between the start of the shell and the first size.
  const slow = argv.map((word) =>
    word.replace(/^(\S+stty cols 80 rows 24); /, (_, stty) => `${stty}; sleep 0.5; ${stty}; `),
  )
  expect(slow).not.toEqual(argv)
  const child = spawn(slow[0]!, slow.slice(1), { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const seen = text(child.stdout)
  await promisify(execFile)('/bin/bash', ['-c', resizeProgram, 'resize', `${child.pid}`, '100', '20']).catch(
    // Its exit code is that of pkill, which may come after the program's end.
    () => undefined,
  )
  expect(await seen).toBe('20 100\r\n')
})
