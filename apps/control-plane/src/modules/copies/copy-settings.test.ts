import { expect, it } from 'vitest'
import { copySettings, defaultCopySettings } from './copy-settings.ts'

it('changes the named times and keeps the rest', () => {
  expect(copySettings({})).toEqual(defaultCopySettings)
  expect(copySettings({ DOCK_COPY_AGE_SECONDS: 0, DOCK_COPY_GRACE_SECONDS: 1.5 })).toEqual({
    ...defaultCopySettings,
    ageMs: 0,
    graceMs: 1500,
  })
})
