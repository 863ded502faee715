/** POST /v1/docks */
import { type Dock, type RouteBody, type routes, ServiceError } from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import { readCreateContext } from '../core/dock-store.ts'
import { marksOf, requireLaunch } from '../core/environment-gate.ts'
import { causedBy, type DockContext, newDockOperation } from '../dock-context.ts'
import { sealVariables } from '../environment/variables/dock-variables.ts'
import { sealSetupScript } from '../setup/setup-saga.ts'
import { claimAndStart } from './claim-start.ts'
import { fromImage, fromTemplate } from './create-from.ts'
import { fingerprintOf, keysSince, makeDockOnce } from './idempotency.ts'
import type { StartData } from './start-data.ts'

export type CreateDockBody = RouteBody<(typeof routes)['createDock']>

/** Creates a Dock and returns it when it is ready. Requests with the same idempotency key create one Dock. */
export async function createDock(
  context: DockContext,
  caller: Visitor,
  body: CreateDockBody,
  key: string | undefined,
): Promise<Dock> {
  const { sealer } = context
  const since = keysSince(context.clock.now())
  const lookup = () =>
    readCreateContext(context.db, {
      userId: caller.userId,
      workspaceId: body.workspaceId,
      environment: body.environment ?? null,
      key: key ?? null,
      keysSince: since,
    })
  const fingerprint = fingerprintOf(context.fingerprintKey, 'createDock', body)
  const known = caller.admit(await lookup())
  return makeDockOnce(context, { known, fingerprint, lookup }, async () => {
    const { organizationId, role, binding } = known
    if (binding === null) throw new ServiceError('environment_not_found')
    const { noEnv } = body
    requireLaunch(binding, role, noEnv)
    const origin =
      body.from === undefined
        ? fromImage(body.image ?? context.defaultImage)
        : await fromTemplate(context, known, body.from, body.image)
    const { image } = origin
    const diskGiB = Math.max(body.diskGiB, origin.diskGiB)
    const size = { cpus: body.cpus, memoryMiB: body.memoryMiB, diskGiB }
    return claimAndStart(context, body.from === undefined ? { image, ...size } : null, async (id) => {
      const envSealed = await sealVariables(sealer, { organizationId, dockId: id }, body.env ?? {})
      const setupScriptSealed = await sealSetupScript(sealer, organizationId, id, body.setupScript)
      const data: StartData = {
        dataVersion: 1,
        command: { hostname: '', ...size, ...origin.command },
        ...(origin.captureHost === undefined ? {} : { captureHost: origin.captureHost }),
        event: 'dock.ready',
        unfurnished: envSealed === null && (noEnv || !binding.envPasses) && origin.marks.length === 0,
        setup: setupScriptSealed !== null,
      }
      return {
        dock: {
          id,
          organizationId,
          workspaceId: body.workspaceId,
          name: body.name ?? null,
          image,
          ...size,
          ttlSeconds: body.ttlSeconds,
          environment: binding.environment,
          environmentId: binding.environmentId,
          environmentVersion: binding.environmentVersion,
          envPasses: binding.envPasses && !noEnv,
          marks: marksOf(binding, noEnv, origin.marks, setupScriptSealed !== null),
          noEnv,
          fromTemplate: body.from ?? null,
          createdBy: caller.userId,
          envSealed,
          setupScriptSealed,
        },
        operation: newDockOperation({
          kind: 'create',
          organizationId,
          dockId: id,
          hostId: null,
          generation: 1,
          cause: causedBy(caller, 'create'),
          data,
        }),
        why: 'create',
        key: key === undefined ? null : { key, fingerprint, keysSince: since },
        placement: {
          ...size,
          ...origin.placement,
          linked: context.gateway.linked(),
          avoid: context.startFailures.recent(),
        },
      }
    })
  })
}
