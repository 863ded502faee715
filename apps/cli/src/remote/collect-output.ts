/** Keeps the beginning of both outputs for a result with --json. */
import type { Sinks } from './run-remote.ts'

const collectedBytesMax = 16 * 1024 * 1024

export type CollectedOutput = { stdout: string; stderr: string; truncated: boolean }

export function collectOutput(bytesMax: number = collectedBytesMax): {
  sinks: Sinks
  texts(): CollectedOutput
} {
  const kept = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  const bytes = { stdout: 0, stderr: 0 }
  let isTruncated = false
  const sinkOf = (name: 'stdout' | 'stderr') => ({
    write: (chunk: string | Uint8Array) => {
      const room = bytesMax - bytes[name]
      const part = Buffer.from(chunk as Uint8Array).subarray(0, room)
      isTruncated ||= part.length < chunk.length
      bytes[name] += part.length
      // An empty part of a long chunk would keep the chunk.
      if (part.length > 0) kept[name].push(part)
      return true
    },
  })
  const sinks: Sinks = { stdout: sinkOf('stdout'), stderr: sinkOf('stderr') }
  const texts = () => ({
    stdout: Buffer.concat(kept.stdout).toString(),
    stderr: Buffer.concat(kept.stderr).toString(),
    truncated: isTruncated,
  })
  return { sinks, texts }
}
