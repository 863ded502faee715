import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'
import { lineLengthMax, linesOf } from './debugfs-process.ts'

it('cuts a line that is too long, and keeps the lines around it', async () => {
  const program = `print "first\\n", "a" x 3_000_000, "\\nb", "c\\nunfinished"`
  const child = spawn('perl', ['-e', program], { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = (await Array.fromAsync(linesOf(child))).flat()
  expect(lines.map(({ length }) => length)).toEqual([5, lineLengthMax, 2])
  expect([lines[0], lines[2]]).toEqual(['first', 'bc'])
})
