import type { Terminal } from '@dock/runtime'

/** The terminals of one Dock by id. Null while a terminal is being opened. */
export type OpenTerminals = Map<string, Terminal | null>
