import { expect, it } from 'vitest'
import { sizeErrorsOf } from './size-fields.tsx'

const largest = { cpus: 4, memoryMiB: 7976, diskGiB: 50 }
const errors = (size: Partial<Parameters<typeof sizeErrorsOf>[0]>, most: typeof largest | null = largest) =>
  sizeErrorsOf({ cpus: '2', memoryMiB: '4096', diskGiB: '20', ...size }, most)

it('says what is wrong with each size, by the hosts that are there', () => {
  expect(errors({})).toEqual({ cpus: undefined, memoryMiB: undefined, diskGiB: undefined })
  expect(errors({ cpus: '5' }).cpus).toBe('No host here has more than 4.')
  expect(errors({ memoryMiB: '16384' }).memoryMiB).toBe('No host here has more than 7.8 GiB.')
  expect(errors({ memoryMiB: '16384' }, null).memoryMiB).toBeUndefined()
  expect(errors({ memoryMiB: '100' }).memoryMiB).toBe('At least 512 MiB.')
  expect(errors({ diskGiB: '' }).diskGiB).toBe('Write a whole number.')
  expect(errors({ cpus: '1.5' }).cpus).toBe('Write a whole number.')
})
