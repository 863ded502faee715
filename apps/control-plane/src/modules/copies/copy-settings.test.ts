import { expect, it } from 'vitest'
import { copySettings, usualCopySettings } from './copy-settings.ts'

it('changes the named times and keeps the rest', () => {
  expect(copySettings({})).toEqual(usualCopySettings)
  expect(copySettings({ DOCK_COPY_AGE_SECONDS: 0, DOCK_COPY_GRACE_SECONDS: 1.5 })).toEqual({
    ...usualCopySettings,
    ageMs: 0,
    graceMs: 1500,
  })
})
