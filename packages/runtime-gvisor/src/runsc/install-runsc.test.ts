/** Tests script/install/runsc with fake runsc programs, and a server that stands in for that of gVisor's releases. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type ReleaseServer, sha512, startReleaseServer } from '@dock/testkit/src/runtime/release-server.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const scripts = resolve(import.meta.dirname, '../../../../script/install')

let folder: string
let target: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-runsc-'))
  target = join(folder, 'bin/runsc')
  // Copies, beside which a test can put a pin of its own.
  for (const name of ['runsc', 'runsc-release']) cpSync(join(scripts, name), join(folder, name))
  mkdirSync(join(folder, 'path'))
  writeFileSync(join(folder, 'path/apt-get'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
})
afterEach(() => rmSync(folder, { recursive: true }))

const program = (release: string): string =>
  `#!/bin/sh\n[ "$1" != --version ] || echo 'runsc version 0.0~${release}.0'\n`

/** Creates a working fake runsc of that release. */
const make = (name: string, release: string): string => {
  const path = join(folder, name)
  writeFileSync(path, program(release), { mode: 0o755 })
  return path
}

const install = async (environment: NodeJS.ProcessEnv = {}): Promise<{ code: number; said: string }> => {
  const child = spawn(join(folder, 'runsc'), [target], {
    env: { PATH: `${join(folder, 'path')}:/usr/bin:/bin`, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return { code, said }
}
const placed = (): string => /\d{8}/.exec(readFileSync(target, 'utf8'))?.[0] ?? ''
const from = (): string => readFileSync(`${target}.from`, 'utf8').trim()

const daysAgo = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
const yesterday = daysAgo(1)
/** Makes the last check for a newer release more than a week old. */
const forgetLook = (): void => utimesSync(`${target}.looked-for`, 1, 1)

test('DOCK_RUNSC replaces a working runsc by rename, even with an older release', async () => {
  await install({ DOCK_RUNSC: make('first', yesterday) })
  const { ino } = statSync(target)
  expect((await install({ DOCK_RUNSC: make('second', '20240729') })).code).toBe(0)
  expect([placed(), from()]).toEqual(['20240729', '20240729.0 DOCK_RUNSC'])
  expect(statSync(target).ino).not.toBe(ino)
})

test('a release that is too old, or a missing program, is refused and the installed one stays', async () => {
  await install({ DOCK_RUNSC: make('good', yesterday) })
  const old = await install({ DOCK_RUNSC: make('old', '20230102') })
  expect(old.said).toMatch(/is release 20230102, which is too old: 20240101 is the oldest that works/)
  const none = await install({ DOCK_RUNSC: join(folder, 'nowhere') })
  expect(none.said).toMatch(/is no runsc that can be run/)
  expect([old.code, none.code, placed()]).toEqual([1, 1, yesterday])
})

test('a newer release of the distribution replaces the installed one, an older one does not', async () => {
  await install({ DOCK_RUNSC: make('first', '20240729') })
  const own = make('path/runsc', '20240728')
  forgetLook()
  expect((await install()).code).toBe(0)
  expect(placed()).toBe('20240729')
  make('path/runsc', yesterday)
  // The script checked just now, so it does not check again.
  await install()
  expect(placed()).toBe('20240729')
  forgetLook()
  expect((await install()).code).toBe(0)
  expect([placed(), from()]).toEqual([yesterday, `${yesterday}.0 this machine's ${own}`])
})

test('a release over a year old causes a warning at every start', async () => {
  const first = await install({ DOCK_RUNSC: make('old', '20240729') })
  expect([first.said, (await install()).said].join()).toMatch(
    /(warning: release 20240729 [^\n]* days old[\s\S]*){2}/,
  )
  expect((await install({ DOCK_RUNSC: make('young', yesterday) })).said).not.toContain('warning')
})

describe('the pinned release', () => {
  const pinned = daysAgo(2)
  let releases: ReleaseServer

  const release = (): string => program(pinned)
  const serveRelease: RequestListener = (_request, response) => void response.end(release())
  const pin = (version = `${pinned}.0`, content = release()): void => {
    writeFileSync(join(folder, 'runsc.pin'), `# The release.\n${version} ${sha512(content)}\n`)
  }
  const installPinned = () => install({ DOCK_TEST_RUNSC_RELEASES: releases.address })

  beforeEach(async () => {
    releases = await startReleaseServer(serveRelease)
    pin()
    // The distribution's, which is taken if the pinned release is not.
    make('path/runsc', '20240729')
  })
  afterEach(() => releases.close())

  test('is downloaded, and not looked for again while it is installed', async () => {
    const { code, said } = await installPinned()
    expect([code, placed(), from()]).toEqual([0, pinned, `${pinned}.0 gVisor's release server`])
    expect(said).toContain(`took release ${pinned} of gVisor from gVisor's release server`)
    const path = `/${pinned}.0/x86_64/runsc`
    expect(releases.asked).toEqual([`HEAD ${path}`, `GET ${path}`])
    forgetLook()
    await installPinned()
    expect(releases.asked).toHaveLength(2)
  })

  test('yields to DOCK_RUNSC', async () => {
    await install({ DOCK_RUNSC: make('own', '20250101'), DOCK_TEST_RUNSC_RELEASES: releases.address })
    expect([placed(), releases.asked]).toEqual(['20250101', []])
  })

  test('replaces an older one at the next start after it was pinned', async () => {
    rmSync(join(folder, 'runsc.pin'))
    await installPinned()
    expect([placed(), releases.asked]).toEqual(['20240729', []])
    pin()
    await installPinned()
    expect(placed()).toBe(pinned)
  })

  test('with another hash is deleted, the distribution’s is taken, and only another pin is tried this week', async () => {
    releases.serve = (_request, response) => void response.end(`${release()}# changed\n`)
    const { code, said } = await installPinned()
    expect(said).toContain('its SHA-512 is not that of runsc.pin')
    expect([code, placed(), releases.asked.length]).toEqual([0, '20240729', 2])
    await installPinned()
    expect(releases.asked).toHaveLength(2)
    pin(`${pinned}.0`, `${release()}# changed\n`)
    await installPinned()
    expect([placed(), releases.asked.length]).toEqual([pinned, 4])
  })

  test('that is cut short is deleted, and downloaded again at the next start', async () => {
    releases.serve = (request, response) => {
      response.writeHead(200, { 'content-length': release().length })
      if (request.method === 'HEAD') return void response.end()
      response.write(release().slice(0, 20), () => response.destroy())
    }
    const { code, said } = await installPinned()
    expect(said).toContain('could not be downloaded')
    expect([code, placed()]).toEqual([0, '20240729'])
    releases.serve = serveRelease
    await installPinned()
    expect(placed()).toBe(pinned)
  })

  test('that the server does not have is no reason to fail', async () => {
    releases.serve = (_request, response) => void response.writeHead(404).end()
    const { code, said } = await installPinned()
    expect(said).toContain('could not be downloaded')
    expect([code, placed(), releases.asked]).toEqual([0, '20240729', [`HEAD /${pinned}.0/x86_64/runsc`]])
  })

  test('cannot be reached: a refused connection', async () => {
    await releases.close()
    const { code, said } = await installPinned()
    expect(said).toContain('cannot reach')
    expect([code, placed()]).toEqual([0, '20240729'])
  })

  test('cannot be reached: a server that is silent for 5 s', async () => {
    releases.serve = () => undefined
    const began = performance.now()
    const { code, said } = await installPinned()
    expect(said).toContain('cannot reach')
    expect([code, placed()]).toEqual([0, '20240729'])
    expect(performance.now() - began).toBeGreaterThan(4_900)
  })

  test('does not replace a newer one', async () => {
    await install({ DOCK_RUNSC: make('newer', yesterday) })
    const { code, said } = await installPinned()
    expect(said).toContain(`keeping release ${yesterday}.0 of gVisor: the pinned ${pinned}.0 is older`)
    expect([code, placed(), releases.asked]).toEqual([0, yesterday, []])
  })

  test('that is a fix of the same day replaces it', async () => {
    await installPinned()
    const fix = release().replace(`${pinned}.0`, `${pinned}.1`)
    releases.serve = (_request, response) => void response.end(fix)
    pin(`${pinned}.1`, fix)
    await installPinned()
    expect(from()).toBe(`${pinned}.1 gVisor's release server`)
  })

  test('that does not run here is not installed', async () => {
    const broken = `${release()}[ "$1" = --version ]\n`
    releases.serve = (_request, response) => void response.end(broken)
    pin(`${pinned}.0`, broken)
    expect((await installPinned()).said).toContain('runs no sandbox on this machine')
    expect(placed()).toBe('20240729')
  })

  test('is not read from a damaged file', async () => {
    writeFileSync(join(folder, 'runsc.pin'), `${pinned}.0 ../../etc\n`)
    expect((await installPinned()).said).toContain('runsc.pin is damaged')
    expect([placed(), releases.asked, existsSync(`${target}.pin-refused`)]).toEqual(['20240729', [], false])
  })
})
