import { expect, it } from 'vitest'
import { patchPages } from './patch-pages.ts'

type Item = { id: string; createdAt: string; state?: string }
const item = (minute: number, state?: string): Item => ({
  id: `id-${minute}`,
  createdAt: `2026-01-01T00:0${minute}:00.000Z`,
  ...(state ? { state } : {}),
})
const pages = (isWhole: boolean) => [
  { docks: [item(9), item(7)], nextCursor: 'after 7' },
  { docks: [item(5), item(3)], nextCursor: isWhole ? null : 'after 3' },
]
const patch = (isWhole: boolean, ids: number[], found: Item[]) =>
  patchPages<Item, { docks: Item[]; nextCursor: string | null }>(
    pages(isWhole),
    new Set(ids.map((minute) => `id-${minute}`)),
    found,
  ).map(({ docks }) => docks.map(({ id, state }) => `${id}${state ? ` ${state}` : ''}`))

it('changes entries where they are, and takes out those that are gone', () => {
  expect(patch(false, [7, 5], [item(5, 'idle')])).toEqual([['id-9'], ['id-5 idle', 'id-3']])
})

it('puts new entries where the service lists them', () => {
  expect(patch(false, [8, 6], [item(8), item(6)])).toEqual([
    ['id-9', 'id-8', 'id-7'],
    ['id-6', 'id-5', 'id-3'],
  ])
})

it('adds an entry after the last one only if the list was read to its end', () => {
  expect(patch(true, [1], [item(1)])[1]).toEqual(['id-5', 'id-3', 'id-1'])
  expect(patch(false, [1], [item(1)])[1]).toEqual(['id-5', 'id-3'])
})

it('orders entries of the same moment by their id, the greatest first', () => {
  const twin = { ...item(5), id: 'id-55' }
  const patched = patchPages<Item, { docks: Item[]; nextCursor: string | null }>(
    [{ docks: [item(5)], nextCursor: null }],
    new Set(['id-55']),
    [twin],
  )
  expect(patched[0]!.docks.map(({ id }) => id)).toEqual(['id-55', 'id-5'])
})

it('fills an empty list', () => {
  const patched = patchPages<Item, { docks: Item[]; nextCursor: string | null }>(
    [{ docks: [], nextCursor: null }],
    new Set(['id-1']),
    [item(1)],
  )
  expect(patched[0]!.docks).toHaveLength(1)
})
