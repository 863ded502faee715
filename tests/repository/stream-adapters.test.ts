/**
 * Node's own adapters between its streams and web streams enqueue into a stream that was cancelled, and that error ends
 * the process for everybody. `bodyOf` and `readableOf` of the foundation take their place.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = execFileSync('git', ['ls-files', 'apps/*.ts', 'packages/*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
const adapter = /\.(toWeb|fromWeb)\(/

it('no source uses the stream adapters of Node', () => {
  const files = sources.trim().split('\n')
  expect(files.length).toBeGreaterThan(1000)
  expect(files.filter((file) => adapter.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})
