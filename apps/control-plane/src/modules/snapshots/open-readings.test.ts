/** Limits of concurrent reads of Snapshots, and which reads are stopped for others. */
import { limits } from '@dock/contract'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { expect, it, vi } from 'vitest'
import { createOpenReadings, type OpenReadings } from './open-readings.ts'

const { openPerUserMax, openPerHostMax, openPerHostAndOrganizationMax } = limits.snapshotReadings
const { fairSecondsMin, slowSecondsMin, slowBytesPerSecond } = limits.snapshotReadings
const refusal = expect.objectContaining({ code: 'rate_limited' })
const party = (organizationId: string, userId = `user of ${organizationId}`) => ({ organizationId, userId })

it.each([
  ['a person', openPerUserMax, ({ ofUser }, key) => ofUser(key)],
  [
    'an organization on a host',
    openPerHostAndOrganizationMax,
    ({ ofHost }, key) => ofHost('host', party(key)).end,
  ],
  ['a host', openPerHostMax, ({ ofHost }, key, turn) => ofHost(key, party(`${turn % 3}`)).end],
] as [string, number, (readings: OpenReadings, key: string, turn: number) => () => void][])(
  'refuses %s more reads than the limit; each key is counted separately and each read once',
  (_, max, count) => {
    const readings = createOpenReadings()
    const ends = Array.from({ length: max }, (_, turn) => count(readings, 'one', turn))
    const more = () => count(readings, 'one', 0)
    for (let again = 0; again < 5; again++) expect(more).toThrow(refusal)
    count(readings, 'other', 0)
    ends[0]!()
    ends[0]!()
    more()
    expect(more).toThrow(refusal)
  },
)

it('does not count a refused read for the organization if the host is at its limit', () => {
  const readings = createOpenReadings()
  const places = Array.from({ length: openPerHostMax }, (_, turn) =>
    readings.ofHost('host', party(`full ${turn % 2}`)),
  )
  for (let count = 0; count < 9; count++)
    expect(() => readings.ofHost('host', party('late'))).toThrow(refusal)
  for (const { end } of places) end()
  for (let count = 0; count < openPerHostAndOrganizationMax; count++) readings.ofHost('host', party('late'))
})

/** Opens a read for each party. `stopped` has the numbers of the reads that were stopped. */
const openAll = (parties: readonly { organizationId: string; userId: string }[]) => {
  const clock = createVirtualClock()
  const readings = createOpenReadings(clock)
  const stopped: number[] = []
  const places = parties.map((each, index) => {
    const place = readings.ofHost('host', each)
    place.allowDisplacement(() => void stopped.push(index))
    return place
  })
  return { clock, readings, places, stopped }
}

it('two organizations of one person do not keep others from a host', () => {
  const parties = Array.from({ length: openPerHostMax }, (_, turn) => party(`${turn % 2}`, 'mallory'))
  const { clock, readings, places, stopped } = openAll(parties)
  const newcomer = () => readings.ofHost('host', party('victim'))
  places.forEach((place, index) => void place.took(index === 4 ? 1 : 1000))
  clock.advance(fairSecondsMin * 1000 - 1)
  expect(newcomer).toThrow(refusal)
  clock.advance(1)
  // The slowest read is stopped.
  newcomer()
  expect(stopped).toEqual([4])
  newcomer()
  newcomer()
  expect(stopped).toHaveLength(3)
  // Now each side has a half, and neither takes more from the other.
  expect(() => readings.ofHost('host', party('1', 'mallory'))).toThrow(refusal)
  expect(() => readings.ofHost('host', party('victim'))).toThrow(refusal)
})

it('counts the reads of a person in several organizations, and of several people in one', () => {
  const people = Array.from({ length: openPerHostMax }, (_, turn) => party('0', `${turn}`))
  const { clock, stopped, readings } = openAll([
    ...people.slice(0, openPerHostAndOrganizationMax),
    ...['1', '2', '3'].map((organization) => party(organization, 'mallory')),
  ])
  clock.advance(fairSecondsMin * 1000)
  readings.ofHost('host', party('victim'))
  expect(stopped).toHaveLength(1)
})

it('reads that are slow for a minute are stopped for somebody who has none, and fast ones are not', () => {
  const { clock, readings, places, stopped } = openAll(
    Array.from({ length: openPerHostMax }, (_, turn) => party(`${turn}`)),
  )
  const newcomer = () => readings.ofHost('host', party('victim'))
  for (const place of places.slice(1)) place.took(slowSecondsMin * slowBytesPerSecond)
  clock.advance((slowSecondsMin - 1) * 1000)
  expect(newcomer).toThrow(refusal)
  clock.advance(1000)
  newcomer()
  expect(stopped).toEqual([0])
  expect(() => readings.ofHost('host', party('another victim'))).toThrow(refusal)
})

it('a read that cannot be ended keeps its place, and one that was stopped is counted once', () => {
  const clock = createVirtualClock()
  const readings = createOpenReadings(clock)
  const parties = Array.from({ length: openPerHostMax }, (_, turn) => party(`${turn % 2}`))
  const places = parties.map((each) => readings.ofHost('host', each))
  clock.advance(fairSecondsMin * 1000)
  expect(() => readings.ofHost('host', party('victim'))).toThrow(refusal)
  const stopRead = vi.fn(() => places[0]!.end())
  places[0]!.allowDisplacement(stopRead)
  readings.ofHost('host', party('victim'))
  expect(stopRead).toHaveBeenCalledOnce()
  expect(() => readings.ofHost('host', party('late'))).toThrow(refusal)
})
