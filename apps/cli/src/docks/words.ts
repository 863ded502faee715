/** The words for the states of a Dock. They are those of the dashboard and of docs/states.md. */
import type { DockInfo } from '@dock/sdk'
import { dockWords } from '@dock/sdk/dashboard-rules'
import type { ColourName } from '../output/colours.ts'

/** Returns the word for a state; the state itself if a newer service has one that is not known here. */
export function wordOf(state: DockInfo['state']): string {
  return dockWords[state] ?? state
}

const colours: Readonly<Record<string, ColourName>> = {
  Running: 'green',
  Sleeping: 'green',
  Stopped: 'dim',
  Failed: 'red',
  Unreachable: 'red',
}

export function colourOfWord(word: string): ColourName {
  return colours[word] ?? 'yellow'
}
