/** Tests script/install/runsc with fake runsc programs. Uses no network. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const script = resolve(import.meta.dirname, '../../../../script/install/runsc')

let folder: string
let target: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-runsc-'))
  target = join(folder, 'bin/runsc')
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

const install = (environment: NodeJS.ProcessEnv = {}): { code: number | null; said: string } => {
  const { status, stderr } = spawnSync(script, [target], {
    env: { PATH: `${join(folder, 'path')}:/usr/bin:/bin`, ...environment },
    encoding: 'utf8',
  })
  return { code: status, said: stderr }
}
const placed = (): string => /\d{8}/.exec(readFileSync(target, 'utf8'))?.[0] ?? ''

const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
/** Makes the last check for a newer release more than a week old. */
const forgetLook = (): void => utimesSync(`${target}.looked-for`, 1, 1)

test('DOCK_RUNSC replaces a working runsc by rename, even with an older release', () => {
  install({ DOCK_RUNSC: make('first', yesterday) })
  const { ino } = statSync(target)
  expect(install({ DOCK_RUNSC: make('second', '20240729') }).code).toBe(0)
  expect(placed()).toBe('20240729')
  expect(statSync(target).ino).not.toBe(ino)
})

test('a release that is too old, or a missing program, is refused and the installed one stays', () => {
  install({ DOCK_RUNSC: make('good', yesterday) })
  const old = install({ DOCK_RUNSC: make('old', '20230102') })
  expect(old.said).toMatch(/is release 20230102, which is too old: 20240101 is the oldest that works/)
  const none = install({ DOCK_RUNSC: join(folder, 'nowhere') })
  expect(none.said).toMatch(/is no runsc that can be run/)
  expect([old.code, none.code, placed()]).toEqual([1, 1, yesterday])
})

test('a newer release of the distribution replaces the installed one, an older one does not', () => {
  install({ DOCK_RUNSC: make('first', '20240729') })
  make('path/runsc', '20240728')
  forgetLook()
  expect(install().code).toBe(0)
  expect(placed()).toBe('20240729')
  make('path/runsc', yesterday)
  // The script checked just now, so it does not check again.
  install()
  expect(placed()).toBe('20240729')
  forgetLook()
  expect(install().code).toBe(0)
  expect(placed()).toBe(yesterday)
})

test('a release over a year old causes a warning at every start', () => {
  const first = install({ DOCK_RUNSC: make('old', '20240729') })
  expect([first.said, install().said].join()).toMatch(/(warning: release 20240729 [^\n]* days old[\s\S]*){2}/)
  expect(install({ DOCK_RUNSC: make('young', yesterday) }).said).not.toContain('warning')
})
