import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import { linesOf, type SourceMapText } from './lines-of-source-map.ts'

const source = join(import.meta.dirname, 'bundle-programs.ts')

it('finds the file and the line of every place as the whole map does, in a third of the text', async () => {
  const made = await rolldown({ input: source, platform: 'node' })
  const { output } = await made.generate({ sourcemap: true })
  await made.close()
  const [{ code, map }] = output
  const whole = JSON.parse(JSON.stringify(map)) as SourceMapText
  const lines = linesOf(whole)
  const placesOf = (text: SourceMapText): string[] => {
    const places = new SourceMap({ ...text, file: '', sourceRoot: '', sourcesContent: [] })
    return code.split('\n').flatMap((each, line) =>
      [...each].map((_, column) => {
        const entry = places.findEntry(line, column)
        return 'originalSource' in entry ? `${entry.originalSource}:${entry.originalLine}` : ''
      }),
    )
  }
  const places = placesOf(lines)
  expect(places).toEqual(placesOf(whole))
  expect(new Set(places).size).toBeGreaterThan(readFileSync(source, 'utf8').split('\n').length / 2)
  expect(lines.mappings.length).toBeLessThan(whole.mappings.length / 3)
})
