import type { AgentErrorCode } from '@dock/host-protocol'

/** The HTTP status of each refusal code, as defined in the host protocol. */
export const refusalStatus = {
  invalid: 400,
  exec_refused: 400,
  not_found: 404,
  not_running: 409,
  busy: 409,
  conflict: 409,
  stale_generation: 409,
  out_of_memory: 500,
  failed: 500,
  frozen: 503,
  no_space: 507,
  damaged: 500,
  unsupported: 501,
} as const satisfies Record<AgentErrorCode, number>
