import { describe, expect, it } from 'vitest'
import type { OperationRow } from './operation.ts'
import { emptyData } from './operation-data.ts'
import { OperationBlocked, runSaga, type Saga, type SagaRecords } from './saga.ts'

const operation = (over: Partial<OperationRow> = {}): OperationRow => ({
  id: 'op_test',
  organizationId: 'o',
  kind: 'test',
  targetType: 'dock',
  targetId: 't',
  dockId: 't',
  hostId: null,
  generation: 1,
  status: 'processing',
  step: null,
  undoing: false,
  data: {},
  cause: { by: 'test', through: 'api', why: 'test' },
  error: null,
  ...over,
})

/** A saga of three steps that logs every call. Calls named in `failing` throw. */
const loggedSaga = (failing: Record<string, Error> = {}) => {
  const log: string[] = []
  const act = (name: string): void => {
    log.push(name)
    const error = failing[name]
    if (error) throw error
  }
  const step = (name: string) => ({
    name,
    do: async () => act(`do ${name}`),
    undo: async () => act(`undo ${name}`),
  })
  const saga: Saga = {
    kind: 'test',
    data: emptyData,
    steps: [step('a'), step('b'), step('c')],
    finish: async () => act('finish'),
    fail: async (_operation, error) => act(`fail ${error.code}`),
    explain: () => ({ code: 'explained', message: '' }),
  }
  const records: SagaRecords = {
    recordStep: async ({ step: done }) => act(`record ${done}`),
    recordUndoing: async () => act('record undoing'),
    recordBlocked: async () => act('record blocked'),
  }
  return { log, saga, records }
}

describe('a saga', () => {
  it('records each step before the next one, and the last step together with finish', async () => {
    const { log, saga, records } = loggedSaga()
    expect(await runSaga(saga, operation(), records)).toBeNull()
    expect(log).toEqual(['do a', 'record a', 'do b', 'record b', 'do c', 'finish'])
  })

  it('skips a step that is not needed, and decides that only when the step is next', async () => {
    const { log, saga, records } = loggedSaga()
    const [a, b, c] = saga.steps
    const isDone = () => log.includes('do a')
    const steps = [a!, { ...b!, isNeeded: isDone }, { ...c!, isNeeded: () => false }]
    expect(await runSaga({ ...saga, steps }, operation(), records)).toBeNull()
    expect(log).toEqual(['do a', 'record a', 'do b', 'finish'])
    log.length = 0
    expect(await runSaga({ ...saga, steps }, operation({ step: 'b' }), records)).toBeNull()
    expect(log).toEqual(['finish'])
  })

  it.each([
    ['a', ['do a', 'record undoing', 'undo a', 'fail explained']],
    ['b', ['do a', 'record a', 'do b', 'record undoing', 'undo b', 'undo a', 'fail explained']],
    [
      'c',
      [
        'do a',
        'record a',
        'do b',
        'record b',
        'do c',
        'record undoing',
        'undo c',
        'undo b',
        'undo a',
        'fail explained',
      ],
    ],
  ])('undoes the completed steps in reverse order when step %s fails', async (name, expected) => {
    const { log, saga, records } = loggedSaga({ [`do ${name}`]: new Error('no') })
    const failed = operation()
    expect(await runSaga(saga, failed, records)).toEqual({ code: 'explained', message: '' })
    expect(log).toEqual(expected)
    expect(failed.status).toBe('completed')
  })

  it('continues after its last recorded step, forward or undoing', async () => {
    const forward = loggedSaga()
    await runSaga(forward.saga, operation({ step: 'a' }), forward.records)
    expect(forward.log).toEqual(['do b', 'record b', 'do c', 'finish'])
    const back = loggedSaga()
    const error = { code: 'kept', message: '' }
    await runSaga(back.saga, operation({ step: 'a', undoing: true, error }), back.records)
    expect(back.log).toEqual(['undo b', 'undo a', 'fail kept'])
  })

  it('becomes blocked without undoing anything', async () => {
    const { log, saga, records } = loggedSaga({ 'do b': new OperationBlocked('host', 'silent') })
    const blocked = operation()
    expect(await runSaga(saga, blocked, records)).toBeNull()
    expect(log).toEqual(['do a', 'record a', 'do b', 'record blocked'])
    expect(blocked).toMatchObject({ status: 'blocked', waitsFor: 'host' })
  })

  it('stays incomplete, to be retried, when an undo or finish fails', async () => {
    const undo = loggedSaga({ 'do b': new Error('no'), 'undo b': new Error('nor back') })
    const failed = operation()
    await expect(runSaga(undo.saga, failed, undo.records)).rejects.toThrow('nor back')
    expect(failed).toMatchObject({ status: 'processing', undoing: true })
    const finish = loggedSaga({ finish: new Error('lease lost') })
    await expect(runSaga(finish.saga, operation(), finish.records)).rejects.toThrow('lease lost')
  })
})
