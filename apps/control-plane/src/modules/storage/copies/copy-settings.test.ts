import { expect, it } from 'vitest'
import { defaultCopySettings, readCopySettings } from './copy-settings.ts'

it('changes the named times and keeps the rest', () => {
  expect(readCopySettings({})).toEqual(defaultCopySettings)
  expect(readCopySettings({ DOCK_TEST_COPY_AGE_SECONDS: 0, DOCK_TEST_COPY_GRACE_SECONDS: 1.5 })).toEqual({
    ...defaultCopySettings,
    ageMs: 0,
    graceMs: 1500,
  })
})
