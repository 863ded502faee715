import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { confinedTo, rootOf } from './confined-program.ts'

const [inside, outside] = ['inside', 'outside'].map((name) => mkdtempSync(join(tmpdir(), `dock-${name}-`)))
afterAll(() => {
  for (const folder of [inside!, outside!, rootOf(inside!)]) rmSync(folder, { recursive: true })
})

test('a confined program changes its folder and nothing else', () => {
  const script = `pwd; echo a > ${inside}/a; (echo b > ${outside}/b) 2>&1; rm -rf ${outside} 2>&1; mkdir /x 2>&1; rm /dev/null 2>&1`
  const [file = '', ...args] = confinedTo(inside!, inside!, ['/bin/sh', '-c', `${script}; exit 0`])
  const said = execFileSync(file, args, { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } })
  expect(said.split('\n')[0]).toBe(inside)
  expect(said.match(/Read-only file system/g)).toHaveLength(4)
  expect(readFileSync(join(inside!, 'a'), 'utf8')).toBe('a\n')
  expect([existsSync(outside!), existsSync('/x'), existsSync('/dev/null')]).toEqual([true, false, true])
})
