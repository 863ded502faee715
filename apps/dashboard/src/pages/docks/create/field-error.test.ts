import { DockApiError } from '@dock/sdk'
import { expect, it } from 'vitest'
import { fieldErrorOf } from './field-error.ts'

it('finds the field that an error is about', () => {
  const refused = (code: string, message: string) => fieldErrorOf(new DockApiError(code, 400, message))
  expect(refused('dock_name_taken', 'The name is taken.')).toEqual({ name: 'The name is taken.' })
  expect(refused('validation_error', 'memoryMiB: must be at least 512')).toEqual({
    memoryMiB: 'must be at least 512',
  })
  expect(refused('validation_error', 'env.A: too long')).toEqual({ env: 'too long' })
  expect(refused('validation_error', 'workspaceId: no')).toEqual({})
  expect(refused('no_host_capacity', 'name: no')).toEqual({})
  expect(fieldErrorOf(new Error('name: no'))).toEqual({})
})
