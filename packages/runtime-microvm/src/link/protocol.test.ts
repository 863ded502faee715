import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  calls,
  endByte,
  flagMore,
  machineStates,
  openFlags,
  processFlags,
  protocol,
  refusals,
  sizes,
  states,
  targets,
  types,
} from './protocol.ts'

const header = readFileSync(join(import.meta.dirname, '../../agent/protocol.h'), 'utf8')

/** `outOfMemory` in C is `OUT_OF_MEMORY`. */
const inC = (name: string): string => name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()
const prefixed = (prefix: string, values: Record<string, number>): [string, number][] =>
  Object.entries(values).map(([name, value]) => [`${prefix}_${inC(name)}`, value])

it('the host and the agent have the same constants', () => {
  const ofC = Object.fromEntries(
    [...header.matchAll(/^#define (\w+) (\w+)$/gm)].map(([, name = '', value]) => [name, Number(value)]),
  )
  const sizeNames: Record<keyof typeof sizes, string> = {
    header: 'HEADER_BYTES',
    payloadMax: 'PAYLOAD_MAX',
    nonce: 'NONCE_BYTES',
    window: 'WINDOW_BYTES',
    openMax: 'OPEN_BYTES_MAX',
    stringsMax: 'STRINGS_MAX',
    channelsMax: 'CHANNELS_MAX',
    nameMax: 'NAME_BYTES_MAX',
    textMax: 'TEXT_BYTES_MAX',
    killedNamesMax: 'KILLED_NAMES_MAX',
  }
  const ofHost = Object.fromEntries([
    ...prefixed('PROTOCOL', protocol),
    ...prefixed('TYPE', types),
    ...prefixed('OPEN', openFlags),
    ...prefixed('REFUSED', refusals),
    ...prefixed('TARGET', targets),
    ...prefixed('STATE', states),
    ...prefixed('PROCESS', processFlags),
    ...prefixed('MACHINE', machineStates),
    ...prefixed('CALL', calls),
    ...Object.entries(sizes).map(([name, value]) => [sizeNames[name as keyof typeof sizes], value] as const),
    ['END_BYTE', endByte],
    ['FLAG_MORE', flagMore],
  ])
  expect(ofHost).toEqual(ofC)
})
