/** In whose name the machine of a Run is made, and what for. */
import { accessTerms, routes } from '@dock/contract'
import { createVisitor, type Visitor } from '../../accounts/index.ts'
import type { RunRow } from '../run-store.ts'

export type MachineTarget = { id: string; organizationId: string; targetId: string }

export type WantedTurn = {
  turn: number
  /** Text of outsiders may hold instructions, so a machine that reads it gets nothing that the Environment passes. */
  hasOutsiderText: boolean
}

/** Returns the caller in whose name the machine is made. Its membership and role are checked as those of any caller. */
export function ownerOf(run: RunRow, route: 'createDock' | 'resumeDock'): Visitor {
  return createVisitor(
    {
      kind: 'api_key',
      userId: run.createdBy,
      email: '',
      emailVerified: true,
      instanceAdmin: false,
      credentialId: `run:${run.id}`,
    },
    accessTerms(routes[route].access)!,
  )
}
