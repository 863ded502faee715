import { expect, it } from 'vitest'
import { readGvisorSettings } from './gvisor-settings.ts'

it('reads the settings of the driver, and names one that is wrong', () => {
  expect(readGvisorSettings({})).toEqual({ runscPath: undefined, controlSocket: true })
  expect(readGvisorSettings({ DOCK_RUNSC: '/opt/runsc', DOCK_CONTROL_SOCKET: 'off' })).toEqual({
    runscPath: '/opt/runsc',
    controlSocket: false,
  })
  expect(() => readGvisorSettings({ DOCK_CONTROL_SOCKET: 'maybe' })).toThrow('DOCK_CONTROL_SOCKET')
})
