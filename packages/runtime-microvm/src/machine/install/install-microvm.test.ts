/** Tests script/install/microvm without a network: apt is simulated. */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const script = resolve(import.meta.dirname, '../../../../../script/install/microvm')

/** Name of this machine's release, and of the release whose packages are taken. */
const codename = /^VERSION_CODENAME=(\S+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? ''
const suite = codename === 'bookworm' ? 'trixie' : codename

let folder: string
let target: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-microvm-'))
  target = join(folder, 'microvm')
  mkdirSync(join(folder, 'path'))
  simulateApt('exit 1')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** `asked` notes each call of apt-get. */
const simulateApt = (body: string): void =>
  writeFileSync(join(folder, 'path/apt-get'), `#!/bin/sh\necho "$@" >>${folder}/asked\n${body}\n`, {
    mode: 0o755,
  })
const asked = () => (existsSync(join(folder, 'asked')) ? readFileSync(join(folder, 'asked'), 'utf8') : '')

const install = () => {
  const { status, stderr } = spawnSync(script, [target], {
    env: { PATH: `${join(folder, 'path')}:/usr/sbin:/usr/bin:/sbin:/bin` },
    encoding: 'utf8',
  })
  return { code: status, said: stderr }
}

const contents = /^readonly contents=(\d+)$/m.exec(readFileSync(script, 'utf8'))?.[1]

/** Makes it look as if a release was installed at this second. */
const place = (second: number, release = `qemu-1-${contents}`): void => {
  mkdirSync(join(target, release), { recursive: true })
  writeFileSync(join(target, release, 'release.json'), '{}')
  symlinkSync(release, join(target, 'current'))
  writeFileSync(join(target, 'looked-for'), '')
  utimesSync(join(target, 'looked-for'), second, second)
}

test('without packages and without a release it fails and says why', () => {
  expect(install()).toMatchObject({ code: 1, said: expect.stringContaining('no sources of Debian') })
})

test('a release that was looked for within a week is kept without asking apt', () => {
  place(Date.now() / 1000 - 86_400)
  expect([install().code, asked()]).toEqual([0, ''])
})

test('a release whose contents are those of an earlier version is not kept without asking apt', () => {
  place(Date.now() / 1000 - 86_400, 'qemu-1-1')
  expect([install().code, asked()]).toEqual([0, expect.stringContaining('indextargets')])
})

test('a release is kept when no newer one can be had, and is looked for again a week later', () => {
  place(1)
  simulateApt(
    `case $* in *indextargets*) echo "http://127.0.0.1:1/ Debian main ${codename}" ;; *) exit 100 ;; esac`,
  )
  const first = install()
  expect(first).toMatchObject({ code: 0, said: expect.stringContaining(`Keeping qemu-1-${contents}.`) })
  expect(asked()).toContain('update')
  const before = asked()
  expect([install().code, asked()]).toEqual([0, before])
})

test('only the package lists and folders of its own are used', () => {
  const listed = [
    `a/ Debian main ${codename}`,
    `b/ Debian main ${codename}-security`,
    `c/ Other main ${codename}`,
  ]
  simulateApt(
    `case $* in *indextargets*) printf 'http://127.0.0.1:1/%s\\n' ${listed.map((each) => `'${each}'`).join(' ')} ;;
    *) for word; do case $word in Dir::Etc::sourcelist=*) cat "\${word#*=}" >>${folder}/sources ;; esac; done; exit 100 ;; esac`,
  )
  install()
  const sources = readFileSync(join(folder, 'sources'), 'utf8').trim().split('\n')
  expect(sources.map((line) => line.replace(/^deb \[.*\] http:\/\/127.0.0.1:1/, ''))).toEqual([
    `/a/ ${suite} main`,
    `/b/ ${suite}-security main`,
  ])
  expect(asked()).toMatch(/Dir::State::status=\S+\/status .*update/)
})
