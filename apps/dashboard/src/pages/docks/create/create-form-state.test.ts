import { expect, it } from 'vitest'
import { emptyForm, newDockOf, readEnv } from './create-form-state.ts'

it('leaves out what is empty', () => {
  expect(newDockOf({ ...emptyForm, workspaceId: 'w' })).toEqual({
    body: { workspaceId: 'w', cpus: 2, memoryMiB: 4096, diskGiB: 20 },
  })
})

it('sends the chosen source only', () => {
  const form = { ...emptyForm, image: 'ubuntu-24.04', from: 'web' }
  expect(newDockOf(form).body).toMatchObject({ image: 'ubuntu-24.04' })
  expect(newDockOf({ ...form, source: 'from' }).body).not.toHaveProperty('image')
})

it('asks for a runtime, except for a Template, whose disk decides', () => {
  const form = { ...emptyForm, from: 'web', runtime: 'microvm' as const }
  expect(newDockOf(form)).toMatchObject({ runtime: 'microvm' })
  expect(newDockOf({ ...form, source: 'from' })).not.toHaveProperty('runtime')
})

it('reads variables, and names a line that is none', () => {
  expect(readEnv('A=1\n\nB=x=y ')).toEqual({ A: '1', B: 'x=y ' })
  expect(() => readEnv('A=1\nnonsense')).toThrow('Not a variable: nonsense')
})
