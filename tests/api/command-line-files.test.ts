/** `dock cp` and `dock sync` with what is hard to copy. The Docks here are folders of this machine. */
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startControlPlaneWithHost } from '@dock/testkit'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../e2e/support/run-cli.ts'

let server: Awaited<ReturnType<typeof startControlPlaneWithHost>>
let cli: Cli
let folder: string
const here = (...parts: string[]): string => join(cli.folder, 'work', ...parts)
const there = (): Promise<string> => mkdtemp(join(fakeProcessFolder(), 'there-'))
const badName = (at: string): Buffer => Buffer.concat([Buffer.from(`${at}/bad`), Buffer.from([0xff])])

beforeAll(async () => {
  server = await startControlPlaneWithHost()
  const baseUrl = `http://127.0.0.1:${(await server.listen()).port}`
  cli = await createCli({ baseUrl, apiKey: server.admin.apiKey })
  await cli.run(['create', 'web'])
  folder = await there()
})
afterAll(async () => {
  await cli?.remove()
  await server?.stop()
})

describe('a copy', () => {
  it('refuses pipes, and names those that it leaves out of a folder', async () => {
    await mkdir(here('tree'))
    await writeFile(here('tree/file'), 'text')
    execFileSync('mkfifo', [here('fifo'), here('tree/pipe')])
    const refused = await cli.run(['cp', '--json', 'fifo', `web:${folder}/x`])
    expect([refused.code, JSON.parse(refused.stderr).error.code]).toEqual([1, 'not_a_regular_file'])
    const { code, stdout, stderr } = await cli.run(['cp', '--json', 'tree', `web:${folder}`])
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ leftOut: 1 })])
    expect(stderr).toContain('tree/pipe')
    expect(await readdir(join(folder, 'tree'))).toEqual(['file'])
  })

  it('refuses devices and pipes of the Dock, and makes nothing here', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    for (const path of ['/dev/zero', join(folder, 'pipe')]) {
      const { code, stderr } = await cli.run(['cp', '--json', `web:${path}`, 'z'])
      expect([path, code, JSON.parse(stderr).error.code]).toEqual([path, 1, 'not_a_regular_file'])
    }
    expect(await readdir(here())).not.toContain('z')
  })
})

describe('a sync', () => {
  it('misses no edit of the same size, in either direction', async () => {
    await mkdir(here('edits'))
    const target = `${folder}/edits`
    for (const text of ['aaa1', 'bbb1']) {
      await writeFile(here('edits/f'), text)
      expect(await cli.json('sync', 'edits', `web:${target}`)).toMatchObject({ copied: ['f'] })
      expect(await readFile(join(target, 'f'), 'utf8')).toBe(text)
    }
    expect(await cli.json('sync', 'edits', `web:${target}`)).toMatchObject({ copied: [] })
    expect(await cli.json('sync', `web:${target}`, 'edits')).toMatchObject({ copied: [] })
    await writeFile(join(target, 'f'), 'ddd1')
    expect(await cli.json('sync', `web:${target}`, 'edits')).toMatchObject({ copied: ['f'] })
    expect(await readFile(here('edits/f'), 'utf8')).toBe('ddd1')
    expect(await cli.json('sync', `web:${target}`, 'edits')).toMatchObject({ copied: [] })
  })

  it('notices an edit although the clock of the Dock is ahead', async () => {
    await mkdir(here('clock'))
    await writeFile(here('clock/f'), 'one')
    const past = Date.now() / 1000 - 3600
    await utimes(here('clock/f'), past, past)
    await cli.json('sync', 'clock', `web:${folder}/clock`)
    await writeFile(here('clock/f'), 'two')
    await utimes(here('clock/f'), past + 1, past + 1)
    expect(await cli.json('sync', 'clock', `web:${folder}/clock`)).toMatchObject({ copied: ['f'] })
    expect(Math.floor((await stat(join(folder, 'clock/f'))).mtimeMs / 1000)).toBe(Math.floor(past + 1))
  })

  it('leaves out a name that is not UTF-8, copies the rest, and says so', async () => {
    await mkdir(here('names'))
    await writeFile(here('names/good'), 'good')
    await writeFile(badName(here('names')), 'bad')
    const up = await cli.run(['sync', 'names', `web:${folder}/names`])
    expect([up.code, up.stderr]).toEqual([1, expect.stringContaining('bad\ufffd was left out')])
    expect(await readdir(join(folder, 'names'))).toEqual(['good'])
    await rename(join(folder, 'names/good'), badName(join(folder, 'names')))
    await writeFile(join(folder, 'names/other'), 'other')
    const down = await cli.run(['sync', '--json', `web:${folder}/names`, 'down'])
    expect([down.code, JSON.parse(down.stdout)]).toMatchObject([
      1,
      { copied: ['other'], skipped: ['bad\ufffd'] },
    ])
  })
})
