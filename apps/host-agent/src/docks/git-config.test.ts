/** Asks git itself which address it would use. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { formatGitConfig } from './git-config.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-git-config-'))
  const selected = [
    { url: 'https://github.com/acme/app.git', doorPath: 'github/acme/app.git' },
    { url: 'https://github.com/acme/app-two.git', doorPath: 'github/acme/app-two.git' },
    { url: 'https://gitlab.com/acme/group/tool.git', doorPath: 'gitlab/acme/group/tool.git' },
  ]
  await writeFile(join(folder, 'config'), formatGitConfig(selected, '10.1.2.1'))
})
afterAll(() => rm(folder, { recursive: true }))

const whereto = async (url: string): Promise<string> => {
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: join(folder, 'config'), GIT_CONFIG_NOSYSTEM: '1' }
  return (await promisify(execFile)('git', ['ls-remote', '--get-url', url], { env })).stdout.trim()
}

it.each([
  ['https://github.com/acme/app', 'github/acme/app'],
  ['https://github.com/acme/app.git', 'github/acme/app.git'],
  ['https://github.com/acme/app/', 'github/acme/app/'],
  ['https://github.com/acme/app.git/', 'github/acme/app.git/'],
  ['https://github.com/acme/app-two', 'github/acme/app-two'],
  ['https://gitlab.com/acme/group/tool.git', 'gitlab/acme/group/tool.git'],
])('%s goes through the door', async (url, path) => {
  expect(await whereto(url)).toBe(`http://10.1.2.1:9419/${path}`)
})

it.each([
  ...['app-other', 'app_other', 'app.other', 'apps', 'app2', 'app.gitx', 'app.git-x', 'app.gi', 'ap', 'App'],
  ...['app-two-x', 'app-tw', 'other'],
])('leaves https://github.com/acme/%s unchanged', async (name) => {
  const url = `https://github.com/acme/${name}`
  expect(await whereto(url)).toBe(url)
})

it.each(['https://github.com/acme', 'https://gitlab.com/acme/group', 'git@github.com:acme/app.git'])(
  'leaves %s unchanged',
  async (url) => {
    expect(await whereto(url)).toBe(url)
  },
)
