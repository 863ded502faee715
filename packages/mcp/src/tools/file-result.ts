import type { CallToolResult } from '@modelcontextprotocol/server'
import { fitBytes } from '../clip.ts'
import { dataCharactersMax, toolResult } from '../tool-result.ts'

/** Returns a part of a file that begins at `offset`. `size` is that of the whole file, or null if it is not known. */
export function fileResult(
  bytes: Uint8Array,
  { offset, size }: { offset: number; size: number | null },
): CallToolResult {
  const whole = size === null ? '' : ` of ${size}`
  if (bytes.includes(0))
    return toolResult(
      `The file has NUL bytes, so it is not text. Bytes from ${offset}${whole} are not shown. Use run_command with a program that reads it.`,
    )
  const { text, used } = fitBytes(bytes, dataCharactersMax, size !== null && offset + bytes.length >= size)
  const next = offset + used
  const more = size === null || next < size ? ` Read on with offset: ${next}.` : ''
  return toolResult(`Bytes ${offset} to ${next}${whole}.${more}`, text)
}
