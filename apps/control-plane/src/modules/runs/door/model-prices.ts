/**
 * What tokens cost, for the budget of Runs. Prices change, and the key's owner may have others: a budget is a limit on
 * damage, not a bill. A model that is not listed counts as an expensive one.
 */
export type TokenUse = { input: number; output: number }

/** US dollars for a million tokens, by the beginning of a model's name without its maker. The longest match counts. */
const prices: Readonly<Record<string, TokenUse>> = {
  'claude-opus': { input: 15, output: 75 },
  'claude-sonnet': { input: 3, output: 15 },
  'claude-haiku': { input: 1, output: 5 },
  'gpt-5': { input: 1.25, output: 10 },
  'gpt-5-mini': { input: 0.25, output: 2 },
  'gpt-5-nano': { input: 0.05, output: 0.4 },
}
const unknownPrice: TokenUse = { input: 15, output: 75 }

/** Returns the cost in millionths of a dollar. */
export function costMicroUsd(model: string, { input, output }: TokenUse): number {
  const name = model.split('/').at(-1) ?? model
  const known = Object.keys(prices)
    .filter((beginning) => name.startsWith(beginning))
    .toSorted((a, b) => b.length - a.length)[0]
  const price = known === undefined ? unknownPrice : prices[known]!
  return Math.ceil(input * price.input + output * price.output)
}
