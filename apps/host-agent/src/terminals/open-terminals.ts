import type { Terminal } from '@dock/runtime'

/** The terminals of one Dock by id; one that is being opened counts, but is not there yet. */
export type OpenTerminals = Map<string, Terminal | null>
