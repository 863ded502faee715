/** Tests script/install/guest-agent without a network: apt gives packages that were made here, with a compiler that copies. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const script = resolve(import.meta.dirname, '../../../../script/install/guest-agent')
const codename = /^VERSION_CODENAME=(\S+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? ''

let folder: string
let target: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-guest-agent-'))
  target = join(folder, 'bin/agent')
  mkdirSync(join(folder, 'path'))
  mkdirSync(join(folder, 'packages'))
  for (const name of ['tcc', 'libtcc-dev', 'musl-dev']) makePackage(name)
  simulateApt(`case $* in
    *indextargets*) echo "http://127.0.0.1:1/ Debian main ${codename}" ;;
    *download*) cp ${folder}/packages/*.deb . ;;
  esac`)
})
afterEach(() => rmSync(folder, { recursive: true }))

/** `asked` notes each call of apt-get. */
const simulateApt = (body: string): void =>
  writeFileSync(join(folder, 'path/apt-get'), `#!/bin/sh\necho "$@" >>${folder}/asked\n${body}\n`, {
    mode: 0o755,
  })

/** The result of the compiler names the sources that it got, as an agent that runs. */
const compiler = `#!/bin/bash
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=$2; shift ;;
    ./*.c) sources+=("$1") ;;
  esac
  shift
done
{ echo '#!/bin/sh'; echo "exit 0 # \${sources[*]}"; } >"$out"
chmod +x "$out"
`

const makePackage = (name: string, program = compiler): void => {
  const root = join(folder, `root-${name}`)
  const put = (path: string, content: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content, { mode: 0o755 })
  }
  put(
    'DEBIAN/control',
    `Package: ${name}\nVersion: 1.2-3\nArchitecture: all\nMaintainer: x <x@localhost>\nDescription: x\n`,
  )
  if (name === 'tcc') put('usr/bin/tcc', program)
  execFileSync('dpkg-deb', ['--build', root, join(folder, `packages/${name}_1.2-3_all.deb`)], {
    stdio: 'ignore',
  })
}

const install = () => {
  const { status, stderr } = spawnSync(script, [target], {
    env: { PATH: `${join(folder, 'path')}:/usr/sbin:/usr/bin:/sbin:/bin` },
    encoding: 'utf8',
  })
  return { code: status, said: stderr }
}
const asked = () => (existsSync(join(folder, 'asked')) ? readFileSync(join(folder, 'asked'), 'utf8') : '')
const record = () => JSON.parse(readFileSync(`${target}.json`, 'utf8'))

test('the agent is compiled from all sources, and its hash and packages are recorded', () => {
  expect(install()).toMatchObject({ code: 0, said: expect.stringContaining('compiled the guest agent') })
  const sources = readdirSync(resolve(import.meta.dirname, '../../agent')).filter((name) =>
    name.endsWith('.c'),
  )
  const agent = readFileSync(target, 'utf8')
  expect(agent.match(/\w+\.c/g)?.sort()).toEqual(sources.sort())
  expect(record()).toMatchObject({
    sha256: createHash('sha256').update(agent).digest('hex'),
    packages: { tcc: '1.2-3', 'libtcc-dev': '1.2-3', 'musl-dev': '1.2-3' },
  })
  expect(readdirSync(dirname(target)).sort()).toEqual(['agent', 'agent.json'])
})

test('an agent of the same sources is kept without asking apt, a damaged one is replaced by rename', () => {
  install()
  const { ino } = statSync(target)
  const before = asked()
  expect([install().code, asked(), statSync(target).ino]).toEqual([0, before, ino])
  appendFileSync(target, 'damage')
  expect(install().code).toBe(0)
  expect(statSync(target).ino).not.toBe(ino)
  expect(readFileSync(target, 'utf8')).not.toContain('damage')
})

test.each([
  ['no sources of Debian', 'exit 0'],
  [
    'cannot read the package lists',
    `case $* in *indextargets*) echo "x Debian main ${codename}" ;; *) exit 100 ;; esac`,
  ],
  [
    'cannot download tcc and musl',
    `case $* in *indextargets*) echo "x Debian main ${codename}" ;; *download*) exit 100 ;; esac`,
  ],
])('without packages it fails and leaves nothing: %s', (reason, body) => {
  simulateApt(body)
  expect(install()).toMatchObject({ code: 1, said: expect.stringContaining(reason) })
  expect([existsSync(target), existsSync(`${target}.json`)]).toEqual([false, false])
})

test.each([
  ['gives other bytes each time', compiler.replace('exit 0', 'exit 0 $RANDOM $RANDOM')],
  ['does not run', compiler.replace('exit 0', 'exit 1')],
])('an agent is refused if it or its compiler %s', (reason, program) => {
  makePackage('tcc', program)
  expect(install()).toMatchObject({ code: 1, said: expect.stringContaining(reason) })
  expect(existsSync(target)).toBe(false)
})
