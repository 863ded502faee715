import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createReleaseReader } from './read-release.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-release-'))
  path = join(folder, 'runsc')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Places a program that says this version, as script/install/runsc does. */
const place = (version: string): void => {
  const text = `#!/bin/sh\necho x >>${folder}/runs\necho 'runsc version ${version}'\necho 'spec: 1.1.0'\n`
  writeFileSync(`${path}.new`, text, { mode: 0o755 })
  renameSync(`${path}.new`, path)
}

test('returns version, date and source, and the new ones after a replacement', async () => {
  const read = createReleaseReader(path)
  place('0.0~20240729.0')
  writeFileSync(`${path}.from`, '20240729.0 the package of Debian trixie\n')
  const debian = { version: '20240729.0', source: 'the package of Debian trixie', releasedAt: '2024-07-29' }
  expect([await read(), await read()]).toEqual([debian, debian])
  place('release-20261012.1')
  // The file still tells of the program before.
  expect(await read()).toEqual({ version: '20261012.1', releasedAt: '2026-10-12' })
})

test('runs the program once until it is replaced, and again after a failure', async () => {
  const read = createReleaseReader(path)
  await expect(read()).rejects.toThrow(/ENOENT/)
  writeFileSync(path, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  await expect(read()).rejects.toThrow()
  await expect(read()).rejects.toThrow()
  place('release-20261012.1')
  await Promise.all([read(), read(), read()])
  expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('x\n')
})

test('returns what the program says if that contains no date', async () => {
  place('VERSION_MISSING')
  expect(await createReleaseReader(path)()).toEqual({ version: 'runsc version VERSION_MISSING' })
  place('release-99999999.0')
  expect(await createReleaseReader(path)()).toEqual({ version: '99999999.0' })
})
