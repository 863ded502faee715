/** Finds the usage in a response of a model. The three protocols report it in different places. */
import * as z from 'zod'
import type { ModelUse } from './model-prices.ts'

const count = z.number().min(0).max(1e12).optional().catch(undefined)
const usage = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
    prompt_tokens: count,
    completion_tokens: count,
    server_tool_use: z.record(z.string(), count).nullish().catch(null),
  })
  .nullish()
  .catch(null)
const output = z
  .array(z.object({ type: z.string() }).catch({ type: '' }))
  .nullish()
  .catch(null)
const message = z.object({
  usage,
  output,
  message: z.object({ usage }).nullish().catch(null),
  response: z.object({ usage, output }).nullish().catch(null),
})
type Message = z.output<typeof message>

/** The usage in one message. A number that is missing or not understood is undefined. */
type ToldUse = { input: number | undefined; output: number | undefined; toolCalls: number | undefined }

/** A token that is written to a cache for an hour costs as much as two. */
const tokensPerCachedToken = 2
/** Items of an output that ask the caller to run a tool. Other calls ran at the provider. */
const callsOfCaller = /^(function|custom_tool|local_shell|shell|apply_patch|computer)_call$/

const toolCallsOf = ({ output, response }: Message, used: z.output<typeof usage>): number => {
  const items = [...(output ?? []), ...(response?.output ?? [])]
  const told = Object.values(used?.server_tool_use ?? {})
  return (
    items.filter(({ type }) => type.endsWith('_call') && !callsOfCaller.test(type)).length +
    told.reduce<number>((sum, calls) => sum + (calls ?? 0), 0)
  )
}

/** Returns the use that this message tells, or null. */
const useOf = (text: string): ToldUse | null => {
  let parsed: Message
  try {
    parsed = message.parse(JSON.parse(text))
  } catch {
    return null
  }
  const found = parsed.usage ?? parsed.message?.usage ?? parsed.response?.usage
  if (!found) return null
  const input = found.input_tokens ?? found.prompt_tokens
  const cached =
    tokensPerCachedToken * (found.cache_creation_input_tokens ?? 0) + (found.cache_read_input_tokens ?? 0)
  // The first message of a stream reports the output so far, which is almost nothing.
  const output = parsed.message?.usage ? undefined : (found.output_tokens ?? found.completion_tokens)
  const toolCalls = toolCallsOf(parsed, found)
  return { input: input === undefined ? undefined : input + cached, output, toolCalls }
}

/** Later messages of a stream repeat or complete the usage of earlier ones. */
const larger = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other)

export type UsageReader = {
  take(chunk: Buffer): void
  /** Returns the usage. Numbers that the response did not report are estimated, so that no response is free. */
  end(): ModelUse
}

/** A line or a response beyond this size is not read for its usage. */
const lengthMax = 8 * 1024 * 1024
const bytesPerToken = 3

/** Returns about how many tokens a text of this length has: rather more than fewer. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}

/** Speed of fast models. Models also charge for reasoning that the response does not contain. */
const tokensPerSecond = 100

/** Returns how many hidden tokens a model may have produced since `startedAt`, a time of `performance.now()`. */
export function estimateUnseenTokens(startedAt: number): number {
  return Math.floor((performance.now() - startedAt) / 1000) * tokensPerSecond
}

/**
 * Reads the usage from a response as it passes. If the response breaks off before it reports usage, the usage is estimated
 * from `most` and `startedAt` (when the request was sent, of `performance.now()`): otherwise an agent could avoid all costs
 * by hanging up early.
 */
export function createUsageReader(
  isStream: boolean,
  most: { input: number; output: number },
  startedAt = performance.now(),
): UsageReader {
  let rest = ''
  let bytes = 0
  let known: ToldUse = { input: undefined, output: undefined, toolCalls: undefined }
  const read = (text: string): void => {
    const use = useOf(text)
    if (!use) return
    known = {
      input: larger(known.input, use.input),
      output: larger(known.output, use.output),
      toolCalls: larger(known.toolCalls, use.toolCalls),
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
      return {
        input: known.input ?? most.input,
        output:
          known.output ??
          Math.max(estimateTokens(bytes), Math.min(most.output, estimateUnseenTokens(startedAt))),
        toolCalls: known.toolCalls ?? 0,
      }
    },
  }
}
