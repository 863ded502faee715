/** Tests which git connections are served and which are refused, with the limits used in production. */
import { beforeEach, describe, expect, it } from 'vitest'
import { createDoorPlaces, type DoorPlaces, type Place } from './door-places.ts'

let places: DoorPlaces
let asked: string[]
beforeEach(() => {
  asked = []
  // A Dock is named after its organization, `acme/1`.
  places = createDoorPlaces(async ({ dockId }) => {
    asked.push(dockId)
    return dockId.startsWith('unknown') ? null : dockId.split('/')[0]!
  })
})

const take = (dockId: string, hostId = 'host') => places.take({ dockId, hostId, generation: 1 })
const takeMany = (count: number, dockId: string, hostId?: string) =>
  Promise.all(Array.from({ length: count }, () => take(dockId, hostId)))
const outcome = (place: Place | null) => place && (place.refusal?.status ?? 'served')
/** Takes places for `each` connections of each of `docks` Docks of an organization. */
const fill = async (organization: string, docks: number, hostId?: string, each = 16) => {
  const taken = []
  for (let dock = 0; dock < docks; dock++)
    taken.push(...(await takeMany(each, `${organization}/${dock}`, hostId)))
  return taken
}
const served = (taken: (Place | null)[]) => taken.filter((place) => outcome(place) === 'served').length

it('serves sixteen connections of a Dock, refuses sixteen more, and ignores the rest', async () => {
  const taken = await takeMany(33, 'acme/1')
  expect(taken.map(outcome)).toEqual([...Array(16).fill('served'), ...Array(16).fill(429), null])
  expect(asked).toEqual(['acme/1'])
  taken[0]!.leave()
  taken[16]!.leave()
  expect((await takeMany(3, 'acme/1')).map(outcome)).toEqual(['served', 429, null])
})

describe('one organization with slow connections', () => {
  it('gets at most half of a host’s shared places, and never another Dock’s own places', async () => {
    const taken = await fill('acme', 40)
    expect(served(taken)).toBe(40 * 4 + 128)
    expect(taken.some((place) => outcome(place) === 503)).toBe(true)
    expect((await fill('other', 2)).map(outcome)).toEqual(Array(32).fill('served'))
  })

  it('gets at most a quarter of the shared places of all hosts', async () => {
    let count = 0
    for (const host of ['one', 'two', 'three', 'four']) count += served(await fill('acme', 40, host))
    expect(count).toBe(4 * 40 * 4 + 256)
    expect((await fill('other', 2, 'one')).map(outcome)).toEqual(Array(32).fill('served'))
  })

  it('gets a limited number of refusals at once, without an effect on other organizations', async () => {
    await fill('acme', 40)
    expect(outcome(await take('acme/39'))).toBeNull()
    expect((await takeMany(17, 'other/1')).map(outcome)).toEqual([...Array(16).fill('served'), 429])
  })
})

it('keeps four places for each Dock when many organizations fill a host, and frees the places of ended connections', async () => {
  for (const organization of ['a', 'b', 'c']) await fill(organization, 20)
  const taken = await takeMany(5, 'late/1')
  expect(taken.map(outcome)).toEqual([...Array(4).fill('served'), 503])
  expect((await takeMany(5, 'late/1', 'another host')).map(outcome)).toEqual(Array(5).fill('served'))
  taken[2]!.leave()
  expect((await takeMany(2, 'late/1')).map(outcome)).toEqual(['served', 503])
})

it('does not count ended connections', async () => {
  for (let round = 0; round < 3; round++) {
    const taken = await fill('acme', 40)
    expect(served(taken)).toBe(40 * 4 + 128)
    for (const place of taken) place?.leave()
  }
})

it('ignores an unknown Dock, and one without an organization', async () => {
  expect((await takeMany(40, 'unknown')).map(outcome)).toEqual(Array(40).fill(null))
  places = createDoorPlaces(() => Promise.reject(new Error('no database')))
  await expect(take('acme/1')).rejects.toThrow('no database')
})

it('limits concurrent organization lookups for the Docks of one host', async () => {
  const answer = Promise.withResolvers<string>()
  let lookups = 0
  places = createDoorPlaces(() => {
    lookups += 1
    return answer.promise
  })
  const taking = Array.from({ length: 1000 }, (_, dock) => take(`made-up/${dock}`))
  expect(lookups).toBe(256)
  void take('acme/1', 'another host')
  expect(lookups).toBe(257)
  answer.resolve('acme')
  await Promise.all(taking)
  expect(outcome(await take('acme/2'))).not.toBeUndefined()
  expect(lookups).toBe(258)
})
