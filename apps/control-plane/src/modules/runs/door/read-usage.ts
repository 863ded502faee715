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

/** Returns the use that this message tells, or null. */
const useOf = (text: string): TokenUse | null => {
  let parsed: z.output<typeof message>
  try {
    parsed = message.parse(JSON.parse(text))
  } catch {
    return null
  }
  const found = parsed.usage ?? parsed.message?.usage ?? parsed.response?.usage
  if (!found) return null
  const cached = (found.cache_creation_input_tokens ?? 0) + (found.cache_read_input_tokens ?? 0)
  return {
    input: (found.input_tokens ?? found.prompt_tokens ?? 0) + cached,
    output: found.output_tokens ?? found.completion_tokens ?? 0,
  }
}

export type UsageReader = {
  take(chunk: Buffer): void
  /** Returns the use, or an estimate if the response told none. */
  end(): TokenUse
}

/** A line or a response beyond this size is not read for its usage. */
const lengthMax = 8 * 1024 * 1024
const bytesPerToken = 3

/** Reads a response as it passes. `requestBytes` is for the estimate. */
export function createUsageReader(isStream: boolean, requestBytes: number): UsageReader {
  let rest = ''
  let bytes = 0
  let known: TokenUse | null = null
  const read = (text: string): void => {
    const use = useOf(text)
    // Later messages of a stream repeat or complete what earlier ones told.
    if (use)
      known = {
        input: Math.max(known?.input ?? 0, use.input),
        output: Math.max(known?.output ?? 0, use.output),
      }
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
      return (
        known ?? { input: Math.ceil(requestBytes / bytesPerToken), output: Math.ceil(bytes / bytesPerToken) }
      )
    },
  }
}
