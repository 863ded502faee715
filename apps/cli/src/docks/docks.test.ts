import { describe, expect, it } from 'vitest'
import { Input } from '../program/input.ts'
import { pick } from './pick.ts'
import { parsePlace } from './place.ts'
import { ranges, readSizes, readVariables, secondsOf } from './sizes.ts'

const docks = [
  { id: '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa', name: 'web' },
  { id: '22222222-aaaa-4aaa-8aaa-aaaaaaaaaaaa', name: 'twin' },
  { id: '33333333-aaaa-4aaa-8aaa-aaaaaaaaaaaa', name: 'twin' },
  { id: '44444444-aaaa-4aaa-8aaa-aaaaaaaaaaaa', name: null },
]
const find = (text: string) => pick('Dock', docks, text, ({ name }) => [name]).id.slice(0, 1)

describe('a name', () => {
  it('is an id, the beginning of an id, or a name', () => {
    expect([docks[0]!.id, docks[3]!.id.toUpperCase(), '222222', 'web'].map(find)).toEqual([
      '1',
      '4',
      '2',
      '1',
    ])
  })

  it('that nothing has is answered with the most similar one', () => {
    expect(() => find('wbe')).toThrow('There is no Dock "wbe". Did you mean "web"?')
    expect(() => find('database')).toThrow(/^There is no Dock "database"\.$/)
    expect(() => find('\u001b[2J')).toThrow('There is no Dock "\\\\x1b[2J".')
  })

  it('that several have needs an id', () => {
    expect(() => find('twin')).toThrow(/Several Docks have the name "twin"\. Write an id: 2222.*, 3333/)
  })
})

it('tells places in Docks from local ones', () => {
  expect(parsePlace('web:/etc/x')).toEqual({ kind: 'remote', dock: 'web', path: '/etc/x' })
  expect(parsePlace(':a')).toEqual({ kind: 'remote', dock: undefined, path: 'a' })
  expect(parsePlace('web:')).toMatchObject({ path: '.' })
  expect(parsePlace('web:~/a')).toMatchObject({ path: '/home/user/a' })
  for (const text of ['./a:b', '/a:b', 'plain', '-']) expect(parsePlace(text)).toEqual({ kind: 'local' })
})

const input = (flags: Record<string, string[]>) => new Input(new Map(), new Map(Object.entries(flags)), [])

it('reads sizes and times', () => {
  expect(readSizes(input({ cpus: ['2'], memory: ['4G'], disk: ['1t'], ttl: ['2d'] }))).toEqual({
    cpus: 2,
    memoryMiB: 4096,
    diskGiB: 1024,
    ttlSeconds: 172_800,
  })
  expect(readSizes(input({ memory: ['1.5GiB'], ttl: ['none'] }))).toEqual({
    memoryMiB: 1536,
    ttlSeconds: null,
  })
  for (const wrong of [{ memory: ['4X'] }, { disk: ['512M'] }, { ttl: ['5'] }, { cpus: ['two'] }])
    expect(() => readSizes(input(wrong as Record<string, string[]>))).toThrow('needs')
})

it('refuses what the service would refuse, in the words of the flag', () => {
  for (const [flags, limit] of [
    [{ memory: ['9999G'] }, '--memory must be 512M to 256G.'],
    [{ memory: ['1M'] }, '--memory'],
    [{ disk: ['3T'] }, '--disk must be 1G to 2T.'],
    [{ cpus: ['65'] }, '--cpus must be 1 to 64.'],
    [{ ttl: ['5s'] }, '--ttl must be 1m to 30d, or none.'],
  ] as [Record<string, string[]>, string][])
    expect(() => readSizes(input(flags))).toThrow(limit)
  expect(() => secondsOf('timeout', '0s', ranges.timeoutSeconds)).toThrow('--timeout must be 1s to 30d.')
  expect(secondsOf('timeout', '30d', ranges.timeoutSeconds)).toBe(2_592_000)
})

it('reads variables', () => {
  expect(readVariables(input({ env: ['A=b=c', 'HOME'] }), { HOME: '/h' })).toEqual({ A: 'b=c', HOME: '/h' })
  expect(() => readVariables(input({ env: ['1=a'] }), {})).toThrow('NAME=VALUE')
  expect(() => readVariables(input({ env: ['NONE'] }), {})).toThrow('has no NONE')
})
