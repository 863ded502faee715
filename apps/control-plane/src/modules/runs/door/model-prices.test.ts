import { expect, it } from 'vitest'
import { costMicroUsd } from './model-prices.ts'

/** Returns dollars for a million tokens of input and as many of output. */
const dollarsOf = (model: string): number =>
  costMicroUsd(model, { input: 1_000_000, output: 1_000_000, toolCalls: 0 }) / 1_000_000
const unknown = 189

it.each([
  ['gpt-5', 11.25],
  ['openai/gpt-5', 11.25],
  ['gpt-5-2025-08-07', 11.25],
  ['gpt-5-mini-2025-08-07', 2.25],
  ['gpt-5.2', 15.75],
  ['claude-opus-4-1-20250805', 90],
  ['claude-opus-4-5', 90],
  ['anthropic/claude-sonnet-4.5', 28.5],
  ['claude-sonnet-4-20250514', 28.5],
  ['claude-haiku-4-5', 6],
  ['claude-haiku-latest', 6],
  ['o1-pro', 750],
  ['openai/o1-pro-2025-03-19', 750],
])('%s costs $%d', (model, dollars) => {
  expect(dollarsOf(model)).toBe(dollars)
})

it.each([
  ['gpt-5-pro'],
  ['openai/gpt-5-pro'],
  ['gpt-5.2-pro-2025-12-11'],
  ['gpt-5-mini-pro'],
  ['gpt-5:online'],
  ['gpt-50'],
  ['o3-pro'],
  ['claude-opus-4-8-fast'],
  ['claude-haiku-mythos'],
  ['constructor'],
  [''],
])('%s is not listed, so it counts as the dearest', (model) => {
  expect(dollarsOf(model)).toBe(unknown)
})

it('counts a call of a tool of the provider', () => {
  expect(costMicroUsd('gpt-5', { input: 0, output: 0, toolCalls: 3 })).toBe(30_000)
})
