import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DockBudget } from './dock-budget.ts'
import { keeperDefaults } from './keeper-settings.ts'
import { OutputStream } from './output-store.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-output-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

it('creates no file once it is removed, also for output that arrives meanwhile', async () => {
  for (let round = 0; round < 50; round++) {
    const output = new OutputStream(folder, `stdout-${round}`, new DockBudget(keeperDefaults), [], true)
    const appending = output.append(Buffer.from('early'))
    // The file is created by a thread, so the removal meets it in different states.
    for (let tick = 0; tick < round; tick++) await null
    await output.remove()
    const left = await readdir(folder)
    await appending
    await output.append(Buffer.from('late'))
    expect(await readdir(folder)).toEqual(left)
  }
})
