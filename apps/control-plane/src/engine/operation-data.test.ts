import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { OperationRow } from './operation.ts'
import { emptyData, firstVersion, InvalidOperationData, readData } from './operation-data.ts'

const row = (data: unknown): OperationRow => ({
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
  data,
  cause: { by: 'test', through: 'api', why: 'test' },
  error: null,
})

const first = z.strictObject({ dataVersion: firstVersion, hostId: z.string() })
const failureOf = (schema: z.ZodType, data: unknown): unknown => {
  try {
    return readData(schema, row(data))
  } catch (error) {
    return error
  }
}

describe('the data of an operation', () => {
  it('is read as version 1 if it was saved before data had versions', () => {
    expect(readData(first, row({ hostId: 'h' })).data).toEqual({ dataVersion: 1, hostId: 'h' })
    expect(readData(emptyData, row({})).data).toEqual({ dataVersion: 1 })
  })

  it('is replaced in the same row, which a waiting caller holds', () => {
    const saved = row({ hostId: 'h' })
    expect(readData(first, saved)).toBe(saved)
    expect(saved.data).toEqual({ dataVersion: 1, hostId: 'h' })
  })

  it('is raised to the current version from every former one', () => {
    const second = z.strictObject({ dataVersion: z.literal(2), hostIds: z.array(z.string()) })
    const current = z.union([
      second,
      first.transform(({ hostId }): z.infer<typeof second> => ({ dataVersion: 2, hostIds: [hostId] })),
    ])
    const expected = { dataVersion: 2, hostIds: ['h'] }
    for (const data of [{ hostId: 'h' }, { dataVersion: 1, hostId: 'h' }, expected])
      expect(readData(current, row(data)).data).toEqual(expected)
  })

  it.each([
    ['of a newer version', { dataVersion: 2, hostId: 'h' }, /data\.dataVersion: /],
    ['that lacks a field', { dataVersion: 1 }, /data\.hostId: /],
    ['with an unknown field', { dataVersion: 1, hostId: 'h', other: 1 }, /data: .*"other"/],
    ['that is no object', null, /data: /],
  ])('%s is refused, and the row keeps it', (_name, data, reason) => {
    const saved = row(data)
    expect(() => readData(first, saved)).toThrow(InvalidOperationData)
    expect(saved.data).toBe(data)
    const { message } = failureOf(first, data) as InvalidOperationData
    expect(message).toMatch(/^operation op_test of kind test cannot be read: /)
    expect(message).toMatch(reason)
  })

  it('stays out of the message of a refusal', () => {
    expect(String(failureOf(first, { hostId: ['hidden'] }))).not.toContain('hidden')
    expect(String(failureOf(first, { hostId: 'h', dataVersion: 'hidden' }))).not.toContain('hidden')
  })
})
