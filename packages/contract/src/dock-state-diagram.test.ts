import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { dockStateDiagram } from './dock-state-diagram.ts'

it('is in the page of states as the table of transitions has it', () => {
  const page = readFileSync(new URL('../../../docs/states.md', import.meta.url), 'utf8')
  expect(page).toContain(`\`\`\`mermaid\n${dockStateDiagram()}\n\`\`\``)
})
