import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dockStates } from './dock-state.ts'
import { type DockWord, dockWordMeanings, dockWords } from './dock-words.ts'

const docs = new URL('../../../docs/states.md', import.meta.url)

it('every state has one word', () => {
  expect(dockStates.map((state) => [state, dockWords[state]])).toEqual([
    ['provisioning', 'Starting'],
    ['provisioned', 'Starting'],
    ['cloning', 'Starting'],
    ['ready', 'Running'],
    ['idle', 'Sleeping'],
    ['running', 'Running'],
    ['archiving', 'Stopping'],
    ['archived', 'Stopped'],
    ['error', 'Failed'],
    ['unreachable', 'Unreachable'],
  ])
})

it('docs/states.md has the same table', () => {
  const rows = (Object.keys(dockWordMeanings) as DockWord[]).map((word) => {
    const states = dockStates.filter((state) => dockWords[state] === word).map((state) => `\`${state}\``)
    return `| ${word} | ${states.join(', ')} | ${dockWordMeanings[word]} |`
  })
  expect(readFileSync(docs, 'utf8')).toContain(
    ['| Word | State in the API | Meaning |', '|---|---|---|', ...rows].join('\n'),
  )
})
