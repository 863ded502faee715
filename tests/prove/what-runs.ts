/**
 * script/prove what-runs [gvisor] [microvm]: tries about fifty things in a Dock of each runtime, and writes what works into the
 * table of docs/what-runs-in-a-dock.md. The column of a runtime that is not tried stays as it is. MicroVMs are emulated unless
 * KVM works, so theirs takes half an hour.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { print } from '../../bench/parts/bench-server.ts'
import { allPackages, allThings } from './inside/all-things.ts'
import { readTable, writeTable } from './inside/table.ts'
import { runtimes, tryThings } from './inside/try-things.ts'

const document = new URL('../../docs/what-runs-in-a-dock.md', import.meta.url)

const wanted = process.argv.slice(2)
const chosen = runtimes.filter((runtime) => wanted.length === 0 || wanted.includes(runtime))
if (chosen.length < wanted.length) {
  print(`usage: script/prove what-runs [${runtimes.join('] [')}]`)
  process.exit(2)
}
const isPresent = { gvisor: process.env.DOCK_RUNSC, microvm: process.env.DOCK_TEST_MICROVM }
const trial = { image: 'what-runs', packages: allPackages, things: allThings }
for (const runtime of chosen) {
  if (!isPresent[runtime]) {
    print(`${runtime} is not installed here`)
    continue
  }
  const outcomes = await tryThings({ runtime, ...trial })
  const text = await readFile(document, 'utf8')
  const table = readTable(text)
  for (const { name } of allThings) {
    const row = table.get(name) ?? { gvisor: 'missing', microvm: 'missing' }
    table.set(name, { ...row, [runtime]: outcomes.get(name) ?? 'missing' })
  }
  const names = allThings.map(({ name }) => name)
  await writeFile(document, writeTable(text, names, table))
}
