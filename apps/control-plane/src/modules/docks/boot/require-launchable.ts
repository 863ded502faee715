import { ServiceError } from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import { readCreateContext } from '../core/dock-store.ts'
import { requireLaunch } from '../core/environment-gate.ts'
import type { DockContext } from '../dock-context.ts'
import { keysSince } from './idempotency.ts'

/** Throws the refusals that a create with this Environment would meet before it asks for room. */
export async function requireLaunchable(
  { db, clock }: Pick<DockContext, 'db' | 'clock'>,
  caller: Visitor,
  { workspaceId, environment }: { workspaceId: string; environment: string | null },
): Promise<void> {
  const { userId } = caller
  const lookup = { userId, workspaceId, environment, key: null, keysSince: keysSince(clock.now()) }
  const { role, binding } = caller.admit(await readCreateContext(db, lookup))
  if (binding === null) throw new ServiceError('environment_not_found')
  requireLaunch(binding, role, false)
}
