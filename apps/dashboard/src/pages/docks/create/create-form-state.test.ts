import { expect, it } from 'vitest'
import { bodyOf, emptyForm, readEnv } from './create-form-state.ts'

it('leaves out what is empty', () => {
  expect(bodyOf({ ...emptyForm, workspaceId: 'w' })).toEqual({
    workspaceId: 'w',
    cpus: 2,
    memoryMiB: 4096,
    diskGiB: 20,
  })
})

it('sends the chosen source only', () => {
  const form = { ...emptyForm, image: 'ubuntu-24.04', from: 'web' }
  expect(bodyOf(form)).toMatchObject({ image: 'ubuntu-24.04' })
  expect(bodyOf({ ...form, source: 'from' })).not.toHaveProperty('image')
})

it('reads variables, and names a line that is none', () => {
  expect(readEnv('A=1\n\nB=x=y ')).toEqual({ A: '1', B: 'x=y ' })
  expect(() => readEnv('A=1\nnonsense')).toThrow('Not a variable: nonsense')
})
