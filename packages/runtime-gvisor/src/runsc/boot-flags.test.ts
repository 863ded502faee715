import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRunsc } from './runsc.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-flags-'))
  path = join(folder, 'runsc')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Places a runsc that knows no flag but these. */
const place = (...known: string[]): void => {
  const text = `#!/bin/sh\nfor word; do case $word in --version) exit 0 ;; ${known.map((flag) => `${flag}) ;; `).join('')}*) exit 2 ;; esac; done\n`
  writeFileSync(`${path}.new`, text, { mode: 0o755 })
  renameSync(`${path}.new`, path)
}

test('a boot has the flags that the installed release knows, and other calls do not', async () => {
  const runsc = createRunsc(path, '/root-dir', '/panic-log')
  place()
  const plain = runsc.args('run', 'id')
  expect(await runsc.bootArgs('run', 'id')).toEqual(plain)
  place('--allow-suid')
  expect(await runsc.bootArgs('run', 'id')).toEqual([...plain.slice(0, -2), '--allow-suid', 'run', 'id'])
  expect(runsc.args('run', 'id')).toEqual(plain)
  place()
  expect(await runsc.bootArgs('run', 'id')).toEqual(plain)
})
