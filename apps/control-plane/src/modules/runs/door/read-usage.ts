/** Finds how many tokens a response of a model has used: the three protocols tell it in different places. */
import * as z from 'zod'
import type { TokenUse } from './model-prices.ts'

const count = z.number().min(0).max(1e12).optional().catch(undefined)
const usage = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
    prompt_tokens: count,
    completion_tokens: count,
  })
  .nullish()
  .catch(null)
const message = z.object({
  usage,
  message: z.object({ usage }).nullish().catch(null),
  response: z.object({ usage }).nullish().catch(null),
})

/** What a message tells. A number that it does not tell, or that is not understood, is undefined. */
type ToldUse = { input: number | undefined; output: number | undefined }

/** Returns the use that this message tells, or null. */
const useOf = (text: string): ToldUse | null => {
  let parsed: z.output<typeof message>
  try {
    parsed = message.parse(JSON.parse(text))
  } catch {
    return null
  }
  const found = parsed.usage ?? parsed.message?.usage ?? parsed.response?.usage
  if (!found) return null
  const input = found.input_tokens ?? found.prompt_tokens
  const cached = (found.cache_creation_input_tokens ?? 0) + (found.cache_read_input_tokens ?? 0)
  // The first message of a stream tells the output so far, which is next to nothing.
  const output = parsed.message?.usage ? undefined : (found.output_tokens ?? found.completion_tokens)
  return { input: input === undefined ? undefined : input + cached, output }
}

/** Later messages of a stream repeat or complete what earlier ones told. */
const larger = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other)

export type UsageReader = {
  take(chunk: Buffer): void
  /** Returns the use. A number that the response did not tell is estimated, so that no response costs nothing. */
  end(): TokenUse
}

/** A line or a response beyond this size is not read for its usage. */
const lengthMax = 8 * 1024 * 1024
const bytesPerToken = 3

/** Returns about how many tokens a text of this length has: rather more than fewer. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}

/** Reads a response as it passes. `requestBytes` is for the estimate. */
export function createUsageReader(isStream: boolean, requestBytes: number): UsageReader {
  let rest = ''
  let bytes = 0
  let known: ToldUse = { input: undefined, output: undefined }
  const read = (text: string): void => {
    const use = useOf(text)
    if (use) known = { input: larger(known.input, use.input), output: larger(known.output, use.output) }
  }
  return {
    take: (chunk) => {
      bytes += chunk.length
      if (rest.length > lengthMax) return
      rest += chunk.toString('utf8')
      if (!isStream) return
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('data:')) read(line.slice('data:'.length))
    },
    end: () => {
      read(rest.replace(/^data:/, ''))
      return {
        input: known.input ?? estimateTokens(requestBytes),
        output: known.output ?? estimateTokens(bytes),
      }
    },
  }
}
