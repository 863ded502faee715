import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hostnameProgram, openHostnameProgram } from './hostname-program.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-hostname-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('the program sets the host name, and ends with the error number if it may not', () => {
  closeSync(openHostnameProgram(folder))
  const path = join(folder, readdirSync(folder)[0]!)
  const inside = [
    '--uts',
    'sh',
    '-c',
    '"$0" a-name.b-9; echo $?; cat /proc/sys/kernel/hostname; "$0" "$1"; echo $?',
  ]
  const output = execFileSync('unshare', [...inside, path, 'x'.repeat(65)], { encoding: 'utf8' })
  expect(output).toBe('0\na-name.b-9\n22\n')
  const unprivileged = ['--uts', 'setpriv', '--bounding-set=-sys_admin', '--inh-caps=-all', path, 'other']
  expect(spawnSync('unshare', unprivileged).status).toBe(1)
})

test('the program is a complete file of known content, which is written once', () => {
  writeFileSync(join(folder, 'other'), '')
  for (let n = 0; n < 2; n++) {
    const descriptor = openHostnameProgram(join(folder, 'new'))
    expect(readFileSync(descriptor)).toEqual(hostnameProgram())
    closeSync(descriptor)
  }
  expect(readdirSync(join(folder, 'new'))).toHaveLength(1)
})

test.each(['x64', 'arm64'])('it is an ELF file of %s whose code is all of its segment', (arch) => {
  const file = hostnameProgram(arch)
  expect(file.subarray(0, 6).toString('latin1')).toBe('\x7fELF\x02\x01')
  expect(file.readBigUInt64LE(24)).toBe(0x400078n)
  expect(file.readBigUInt64LE(64 + 32)).toBe(BigInt(file.length))
})

test('there is none for other machines', () => {
  expect(() => hostnameProgram('mips')).toThrow('mips')
})
