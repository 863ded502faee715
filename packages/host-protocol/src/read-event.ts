/** Reads the events of a host. */
import { type HostEvent, hostEvent } from './messages.ts'

const knownTypes = new Set<string>(hostEvent.options.map(({ shape }) => shape.type.value))
const typeLengthMax = 100

/**
 * Parses a line. Returns only the type of an event that a newer agent may send: the reader skips it. Returns null if the
 * line is not in the protocol.
 */
export function readEvent(line: string): HostEvent | { unknownType: string } | null {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return null
  }
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  if (typeof type !== 'string' || type.length > typeLengthMax) return null
  return knownTypes.has(type) ? (hostEvent.safeParse(value).data ?? null) : { unknownType: type }
}
