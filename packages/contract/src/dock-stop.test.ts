import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dockStopReasons } from './dock-stop.ts'

it('docs/states.md explains every reason, in the order of the contract', () => {
  const text = readFileSync(new URL('../../../docs/states.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| `(\w+)` \| \S.* \|$/gm)].map((found) => found[1])
  expect(rows).toEqual([...dockStopReasons])
})
