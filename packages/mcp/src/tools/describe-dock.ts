import type { DockInfo } from '@dock/sdk'
import { quoted } from '../visible-text.ts'

/** Returns a line about a Dock. Its name was chosen by a person, so it stands in quotes. */
export function describeDock({ id, name, state, image, cpus, memoryMiB, diskGiB }: DockInfo): string {
  const called = name === null ? 'without a name' : quoted(name)
  return `${called} id=${id} state=${state} image=${quoted(image)} cpus=${cpus} memoryMiB=${memoryMiB} diskGiB=${diskGiB}`
}
