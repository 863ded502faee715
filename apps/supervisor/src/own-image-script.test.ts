/** What script/install/image-archive reads of an operator's own image, and which version it gives it. Builds nothing. */
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const checkout = resolve(import.meta.dirname, '../../..')

let own: string
beforeEach(() => {
  own = mkdtempSync(join(tmpdir(), 'dock-own-image-'))
})
afterEach(() => rmSync(own, { recursive: true }))

const write = (name: string, files: Record<string, string>): void => {
  mkdirSync(join(own, name), { recursive: true })
  for (const [file, content] of Object.entries(files)) writeFileSync(join(own, name, file), content)
}
/** Returns the name of the image's archive, or throws what the script said. */
const version = (name: string, folder = own, from = checkout): string => {
  const script = join(from, 'script/install/image-archive')
  const done = spawnSync(script, ['--own', folder, '--path', name, '/cache'], { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(done.stderr)
  return done.stdout.trim()
}

it('has a version that changes with each of its files, and with nothing else', () => {
  write('web', { packages: 'redis-tools' })
  const seen = [version('web')]
  expect(seen[0]).toMatch(/^\/cache\/web-[a-z0-9]+-[0-9a-f]{16}\.tar\.zst$/)
  for (const files of [
    { packages: 'redis-tools # newer' },
    { script: 'true' },
    { from: 'debian-13-dev\n' },
  ]) {
    write('web', files)
    expect(seen).not.toContain(version('web'))
    seen.push(version('web'))
  }
  // Beside it lies another image, and the same files lie in another data folder.
  write('other', { packages: 'jq' })
  expect(version('web')).toBe(seen.at(-1))
  write('moved/web', { packages: 'redis-tools # newer', script: 'true', from: 'debian-13-dev\n' })
  expect(version('web', join(own, 'moved'))).toBe(seen.at(-1))
})

it('has a version that changes with its tarball and the digest that is demanded of it', () => {
  write('mine', { 'rootfs.tar.gz': 'one' })
  const first = version('mine')
  write('mine', { 'rootfs.tar.gz': 'two' })
  const second = version('mine')
  write('mine', { 'rootfs.sha256': '0'.repeat(64) })
  expect(new Set([first, second, version('mine')]).size).toBe(3)
})

it.each<[string, Record<string, string>, RegExp]>([
  ['packages that are options or paths', { packages: 'jq --download-only' }, /not the name of a package/],
  ['packages that are shell', { packages: '$(id)' }, /not the name of a package/],
  ['an image that is not Dock’s to extend', { from: '../secret' }, /does not name a recipe/],
  ['two tarballs', { 'rootfs.tar': '', 'rootfs.tar.gz': '' }, /several files/],
  ['a tarball and a script', { 'rootfs.tar': '', script: '' }, /one or the other/],
])('is refused with %s', (_, files, reason) => {
  write('web', files)
  expect(() => version('web')).toThrow(reason)
})

it('never replaces an image of Dock, and needs a plain name', () => {
  const lean = version('debian-13')
  write('debian-13', { packages: 'jq' })
  expect(version('debian-13')).toBe(lean)
  expect(() => version('../debian-13')).toThrow(/not a name/)
  expect(() => version('missing')).toThrow(/no recipe images\/missing and no folder/)
})

it('keeps its version when the builder changes, unless the file images/shared/builder says otherwise', () => {
  const copy = join(own, 'checkout')
  for (const folder of ['images', 'script/install'])
    cpSync(join(checkout, folder), join(copy, folder), { recursive: true })
  const change = (file: string): void => appendFileSync(join(copy, file), 'true\n')
  const versions = (): string[] => ['debian-13', 'debian-13-agents'].map((name) => version(name, own, copy))
  const [lean, agents] = versions()
  change('script/install/image-archive')
  change('script/install/image-customize')
  expect(versions()).toEqual([lean, agents])
  change('script/install/image-agents')
  const [sameLean, newAgents] = versions()
  expect(sameLean).toBe(lean)
  expect(newAgents).not.toBe(agents)
  change('images/shared/builder')
  expect(versions()[0]).not.toBe(lean)
})
