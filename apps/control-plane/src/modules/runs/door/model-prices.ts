/**
 * Prices of models, for the budgets of Runs. Prices change, and the key's owner may pay others, so a budget limits damage
 * and is no bill. A model that is not listed gets a high price. Models that cost more than that are listed.
 */
export type TokenUse = { input: number; output: number }

export type ModelUse = TokenUse & {
  /** Calls of tools that run at the provider, such as searches of the web. */
  toolCalls: number
}

/** US dollars for a million tokens. */
const prices: Readonly<Record<string, TokenUse>> = {
  'claude-opus': { input: 15, output: 75 },
  'claude-sonnet': { input: 6, output: 22.5 },
  'claude-haiku': { input: 1, output: 5 },
  'gpt-5': { input: 1.25, output: 10 },
  'gpt-5-codex': { input: 1.25, output: 10 },
  'gpt-5-mini': { input: 0.25, output: 2 },
  'gpt-5-nano': { input: 0.05, output: 0.4 },
  'gpt-5.1': { input: 1.25, output: 10 },
  'gpt-5.1-codex': { input: 1.25, output: 10 },
  'gpt-5.1-codex-max': { input: 1.25, output: 10 },
  'gpt-5.1-codex-mini': { input: 0.25, output: 2 },
  'gpt-5.2': { input: 1.75, output: 14 },
  'gpt-5.2-codex': { input: 1.75, output: 14 },
  'gpt-4': { input: 30, output: 60 },
  'gpt-4-32k': { input: 60, output: 120 },
  'gpt-4.5-preview': { input: 75, output: 150 },
  'o1-pro': { input: 150, output: 600 },
}
const unknownPrice: TokenUse = { input: 21, output: 168 }
const microUsdPerToolCall = 10_000

/** The date of a release, as in `gpt-5-2025-08-07` and `claude-sonnet-4-20250514`. */
const date = /-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$/
/** Matches the versions of a model family. The family's price is that of its dearest version. */
const claude = /^(claude-(?:opus|sonnet|haiku))(-\d{1,2}([-.]\d{1,2})?)?$/

const priceOf = (model: string): TokenUse => {
  const name = (model.split('/').at(-1) ?? model).replace(date, '')
  const listed = claude.exec(name)?.[1] ?? name
  return Object.hasOwn(prices, listed) ? prices[listed]! : unknownPrice
}

/** Returns the cost in millionths of a dollar. */
export function costMicroUsd(model: string, { input, output, toolCalls }: ModelUse): number {
  const price = priceOf(model)
  return Math.ceil(input * price.input + output * price.output + toolCalls * microUsdPerToolCall)
}
