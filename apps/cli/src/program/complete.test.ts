import { execFile } from 'node:child_process'
import { access, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { commands } from '../commands.ts'
import { complete } from './complete.ts'
import { completionScripts } from './completion-scripts.ts'

const run = promisify(execFile)
const names = ['web', 'work', 'a b', 'bad\u001b[2J']
const offered = (line: string) =>
  complete(commands, line.split('|'), async (kind) => (kind === 'shell' ? ['bash'] : names))

it.each([
  ['sta', ['stats']],
  ['snapshot|t', ['tree']],
  ['show|w', ['web', 'work']],
  ['show|', ['web', 'work', 'a b']],
  ['show|--js', ['--json']],
  ['--profile|x|show|we', ['web']],
  ['stats|--window|', ['1h', '24h']],
  ['create|--memory|', []],
  ['audit|--action|member.l', ['member.left']],
  ['cp|w', ['web:', 'work:']],
  ['cp|web:/a', []],
  ['rm|web|wo', ['work']],
  ['exec|web|--|w', []],
  ['completion|', ['bash']],
  ['__', []],
])('completes %s', async (line, expected) => {
  expect(await offered(line)).toEqual(expected)
})

it('runs nothing that is the name of a Dock, in bash', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-complete-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const bad = `x$(touch ${folder}/ran)\`touch ${folder}/ran\`;touch ${folder}/ran`
  await writeFile(join(folder, 'names'), `${bad}\n`)
  await writeFile(join(folder, 'dock'), `#!/bin/sh\ncat ${folder}/names\n`)
  await chmod(join(folder, 'dock'), 0o755)
  const script = `${completionScripts.bash}
    COMP_WORDS=(dock show x); COMP_CWORD=2; _dock
    eval "printf '%s' \${COMPREPLY[0]}"`
  const { stdout } = await run('bash', ['-c', script], { env: { PATH: `${folder}:${process.env.PATH}` } })
  expect(stdout).toBe(bad)
  await expect(access(join(folder, 'ran'))).rejects.toThrow()
})
