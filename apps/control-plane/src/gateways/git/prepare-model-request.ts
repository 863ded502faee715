/** Reads a request to a model: what it may cost, and whether the response will tell what it has cost. */
import { estimateTokens } from '../../modules/runs/index.ts'
import { DoorRefusal } from './door-refusal.ts'

/** Assumed for a request that does not limit its answer. */
const usualOutputTokensMax = 32_000
/** Input tokens assumed for a request that continues a conversation stored at the provider: its length is unknown here. */
const referredTokensMax = 400_000
const references = ['previous_response_id', 'conversation', 'prompt'] as const
/** The service tiers for which the listed prices hold. */
const pricedTiers: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  'auto',
  'default',
  'flex',
  'standard_only',
])
const pricedSpeeds: ReadonlySet<unknown> = new Set([undefined, null, 'standard'])
/** Fields that are refused because no response reports what they cost. */
const unpriced = {
  // OpenRouter may use any of them, but Dock would count the price of `model`.
  models: 'A Run names one model for a request.',
  plugins: 'The price of plugins is not known.',
  web_search_options: 'A response does not tell what these searches cost.',
} as const

const typesOfTools = (tools: unknown): unknown[] =>
  Array.isArray(tools)
    ? tools.map((tool) => (typeof tool === 'object' && tool !== null ? Reflect.get(tool, 'type') : null))
    : []

/** Refuses requests whose cost Dock cannot count. */
const refuseUnpriced = (asked: Readonly<Record<string, unknown>>): void => {
  // The provider responds at once, before the work is done, so the response reports no usage.
  if (asked.background === true)
    throw new DoorRefusal(400, 'A Run cannot use models in the background. Leave out "background".')
  for (const [field, why] of Object.entries(unpriced))
    if (asked[field] !== undefined) throw new DoorRefusal(400, `${why} Leave out "${field}".`)
  if (!pricedTiers.has(asked.service_tier))
    throw new DoorRefusal(400, 'A Run cannot use this service tier. Leave out "service_tier".')
  if (!pricedSpeeds.has(asked.speed))
    throw new DoorRefusal(400, 'A Run cannot use this speed. Leave out "speed".')
  if (typesOfTools(asked.tools).includes('image_generation'))
    throw new DoorRefusal(
      400,
      'A Run cannot make images with a model. Leave out the tool "image_generation".',
    )
}

/**
 * Returns how many tokens an answer may have. Each protocol reads another field, and some providers ignore those of others,
 * so the largest counts.
 */
const longestAnswer = (asked: Readonly<Record<string, unknown>>): number => {
  const given = [asked.max_completion_tokens, asked.max_output_tokens, asked.max_tokens].filter(
    (limit) => limit !== undefined && limit !== null,
  )
  const limits = given.map((limit) =>
    Number.isSafeInteger(limit) && (limit as number) > 0 ? (limit as number) : usualOutputTokensMax,
  )
  return limits.length === 0 ? usualOutputTokensMax : Math.max(...limits)
}

/** What the door knows of a request to a model before it sends it. */
export type ModelRequest = {
  body: Buffer
  name: string
  inputTokensMax: number
  outputTokensMax: number
  isStream: boolean
}

/**
 * Returns the name of the model, how long request and answer may be, and the body. A stream of chat completions tells its usage only
 * if it is asked to.
 */
export function prepareModelRequest(path: string, sent: Buffer): ModelRequest {
  if (sent.length === 0)
    return { body: sent, name: '', inputTokensMax: 0, outputTokensMax: 0, isStream: false }
  let parsed: unknown
  try {
    parsed = JSON.parse(sent.toString('utf8'))
  } catch {
    throw new DoorRefusal(400, 'The request is no JSON.')
  }
  if (typeof parsed !== 'object' || parsed === null)
    throw new DoorRefusal(400, 'The request is no JSON object.')
  const asked = parsed as Record<string, unknown> & { stream_options?: object }
  refuseUnpriced(asked)
  const name = typeof asked.model === 'string' ? asked.model : ''
  const answerTokensMax = longestAnswer(asked)
  const answers = Number.isSafeInteger(asked.n) ? Math.max(1, asked.n as number) : 1
  const outputTokensMax = answerTokensMax * answers
  const isStream = asked.stream === true
  const refers = references.some((field) => asked[field] !== undefined && asked[field] !== null)
  const inputTokensMax = estimateTokens(sent.length) + (refers ? referredTokensMax : 0)
  const request = { name, inputTokensMax, outputTokensMax, isStream }
  if (path !== '/v1/chat/completions' || !isStream) return { body: sent, ...request }
  const told = { ...asked, stream_options: { ...asked.stream_options, include_usage: true } }
  return { body: Buffer.from(JSON.stringify(told)), ...request }
}
