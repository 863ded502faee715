/** script/prove planted-bugs takes long. This keeps its list true to the sources in the meantime. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { plantedBugs } from '../prove/planted/bugs.ts'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')

it.each(plantedBugs)('$title: the line to change and the test exist once', ({ file, right, caughtBy }) => {
  expect(read(file).split(right)).toHaveLength(2)
  expect(read(caughtBy.file).split(`'${caughtBy.test}'`)).toHaveLength(2)
})
