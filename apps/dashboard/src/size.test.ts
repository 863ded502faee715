/** What a browser loads before it shows the first page. */
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'

const dist = new URL('../dist/', import.meta.url)

it('the first page loads at most 150 kB of gzipped JavaScript', async () => {
  const html = await readFile(new URL('index.html', dist), 'utf8')
  const names = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map((match) => match[1]!)
  expect(names.length).toBeGreaterThan(0)
  const sizes = await Promise.all(
    names.map(async (name) => gzipSync(await readFile(new URL(name, dist))).length),
  )
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(150_000)
})
