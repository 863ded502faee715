import { expect, it } from 'vitest'
import { ConnectionCounts, TooManyConnections } from './connection-counts.ts'

it('allows 256 connections per port and 512 per Dock, and a new one for each that closes', () => {
  const counts = new ConnectionCounts()
  const take = (dockId: string, ports: number[]) => ports.map((port) => counts.take(dockId, port))
  const ports = (port: number) => Array.from({ length: 256 }, () => port)
  const [release] = take('d', ports(1))
  expect(() => counts.take('d', 1)).toThrow(TooManyConnections)
  take('d', ports(2))
  expect(() => counts.take('d', 3)).toThrow(TooManyConnections)
  take('other', ports(1))
  release?.()
  counts.take('d', 3)
  expect(() => counts.take('d', 1)).toThrow(TooManyConnections)
})
