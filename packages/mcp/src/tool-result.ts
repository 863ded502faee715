/** What a tool returns. The first block is from Dock, the others are data from inside a Dock. */
import { DockError } from '@dock/sdk'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { clipEnd } from './clip.ts'
import { visibleText } from './visible-text.ts'

/** The most characters of all blocks of a result together: about 8,000 tokens. */
export const resultCharactersMax = 30_000
/** The most characters of data in a result. The rest is for the first block. */
export const dataCharactersMax = 24_000

/** Returns a result, and holds the limit whatever a tool gives. Facts may contain what the service says, so they are made visible. */
export function toolResult(facts: string, ...data: readonly string[]): CallToolResult {
  let left = resultCharactersMax
  const content = [visibleText(facts), ...data].map((text) => {
    const clipped = clipEnd(text, left)
    left -= clipped.length
    return { type: 'text' as const, text: clipped }
  })
  return { content }
}

/** Returns a result that says why the tool failed. */
export function failure(message: string): CallToolResult {
  return { ...toolResult(clipEnd(visibleText(message), 2000)), isError: true }
}

/** Returns the result for an error of the SDK. Other errors keep their text to themselves. */
export function failureOf(error: unknown): CallToolResult {
  if (error instanceof DockError) return failure(`${error.code}: ${error.message}`)
  if (error instanceof TypeError) return failure(error.message)
  return failure('The tool failed. Try again.')
}
