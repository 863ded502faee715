import { expect, it } from 'vitest'
import { parseCopySettings, usualCopySettings } from './copy-settings.ts'

it('changes what is named and keeps the rest', () => {
  expect(parseCopySettings('')).toEqual(usualCopySettings)
  expect(parseCopySettings('age=0, grace=1.5')).toEqual({ ...usualCopySettings, ageMs: 0, graceMs: 1500 })
})

it('refuses what it does not know, saying how it is written', () => {
  for (const text of ['often=1', 'age', 'age=', 'age=-1', 'age=soon'])
    expect(() => parseCopySettings(text), text).toThrow('age=')
})
