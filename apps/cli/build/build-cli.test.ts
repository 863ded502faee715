/** The package, as npm packs and installs it. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { buildCli } from './build-cli.ts'

const run = promisify(execFile)

it('is installed by npm without any other package, and starts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-package-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const env = { PATH: process.env.PATH ?? '', HOME: folder, LANG: 'C.UTF-8' }
  const [packed, prefix] = [join(folder, 'packed'), join(folder, 'prefix')]
  await mkdir(prefix)
  await buildCli(packed)
  const { stdout } = await run('npm', ['pack', '--silent'], { cwd: packed, env })
  const archive = join(packed, stdout.trim())
  await run('npm', ['install', '--silent', '--offline', '--global', '--prefix', prefix, archive], { env })
  expect(await readdir(join(prefix, 'lib/node_modules'))).toEqual(['@dock'])
  const dock = join(prefix, 'bin/dock')
  expect((await run(dock, ['--version'], { env })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect((await run(dock, ['create', '--help'], { env })).stdout).toContain('--memory SIZE')
  // What only `dock mcp` needs is found beside the program, behind the link in bin.
  const served = run(dock, ['mcp'], {
    env: { ...env, DOCK_URL: 'http://127.0.0.1:9', DOCK_API_KEY: 'dock_key' },
  })
  served.child.stdin?.end()
  expect(await served).toMatchObject({ stderr: '' })
  await expect(run(dock, ['ls'], { env })).rejects.toMatchObject({ code: 4 })
})
