/** POST /v1/docks */
import {
  type Dock,
  limits,
  type RouteBody,
  type RuntimeName,
  type routes,
  ServiceError,
} from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import { diskBytesOf } from '../../hosts/index.ts'
import { type CreateContext, readCreateContext } from '../core/dock-store.ts'
import { marksOf, requireLaunch } from '../core/environment-gate.ts'
import { causedBy, type DockContext } from '../dock-context.ts'
import { claimAndStart, type DockPlan } from './claim-start.ts'
import { fromImage, fromTemplate } from './create-from.ts'
import { fingerprintOf, keysSince, makeDockOnce } from './idempotency.ts'

/** The body of the request and, from its header, the runtime that it asks for. */
export type CreateDockBody = RouteBody<(typeof routes)['createDock']> & { runtime?: RuntimeName | undefined }

/**
 * Creates a Dock and returns it when it is ready. Requests with the same idempotency key create one Dock. `also` returns
 * further parts of the statement that saves the Dock, which read its row from the relation `born`.
 */
export async function createDock(
  context: DockContext,
  caller: Visitor,
  body: CreateDockBody,
  key: string | undefined,
  also?: DockPlan['also'],
): Promise<Dock> {
  const since = keysSince(context.clock.now())
  const lookup = () =>
    readCreateContext(context.db, {
      userId: caller.userId,
      workspaceId: body.workspaceId,
      environment: body.environment ?? null,
      key: key ?? null,
      keysSince: since,
    })
  const named = { ...body, diskGiB: body.diskGiB ?? limits.diskGiB.default }
  const fingerprint = fingerprintOf(context.fingerprintKey, 'createDock', named)
  const known = caller.admit(await lookup())
  return makeDockOnce(context, { known, fingerprint, lookup }, async () => {
    const plan = await planCreate(context, caller, known, body)
    const { image, cpus, memoryMiB, diskGiB } = plan.dock
    const warm = body.from === undefined ? { image, cpus, memoryMiB, diskGiB } : null
    return claimAndStart(
      context,
      { ...plan, also, key: key === undefined ? null : { key, fingerprint, keysSince: since } },
      warm,
    )
  })
}

/** Decides what the request asks for. Throws the refusals that need no claim. */
const planCreate = async (
  context: DockContext,
  caller: Visitor,
  { organizationId, role, binding }: CreateContext,
  body: CreateDockBody,
): Promise<Omit<DockPlan, 'key' | 'also'>> => {
  if (binding === null) throw new ServiceError('environment_not_found')
  const { noEnv } = body
  requireLaunch(binding, role, noEnv)
  const origin =
    body.from === undefined
      ? fromImage(body.image ?? context.defaultImage, body.runtime)
      : await fromTemplate(
          context,
          { organizationId, role },
          { name: body.from, image: body.image, runtime: body.runtime },
        )
  const size = {
    cpus: body.cpus,
    memoryMiB: body.memoryMiB,
    diskGiB: body.diskGiB ?? Math.max(limits.diskGiB.default, origin.diskGiB),
  }
  if (diskBytesOf(size.diskGiB) < origin.bytes)
    throw new ServiceError('validation_error', {
      message: 'diskGiB: too small for the data of the Template.',
    })
  const variables = body.env ?? {}
  const hasSetup = body.setupScript !== undefined && body.setupScript !== ''
  const envPasses = binding.envPasses && !noEnv
  return {
    why: 'create',
    cause: causedBy(caller, 'create'),
    name: body.name ?? null,
    variables,
    setupScript: body.setupScript,
    dock: {
      organizationId,
      workspaceId: body.workspaceId,
      image: origin.image,
      ...size,
      ttlSeconds: body.ttlSeconds,
      environment: binding.environment,
      environmentId: binding.environmentId,
      environmentVersion: binding.environmentVersion,
      envPasses,
      marks: marksOf(binding, noEnv, origin.marks, hasSetup),
      noEnv,
      fromTemplate: body.from ?? null,
      createdBy: caller.userId,
    },
    start: {
      dataVersion: 1,
      command: { ...size, ...origin.command },
      ...(origin.captureHost === undefined ? {} : { captureHost: origin.captureHost }),
      event: 'dock.ready',
      unfurnished: Object.keys(variables).length === 0 && !envPasses && origin.marks.length === 0,
      setup: hasSetup,
      ...(body.runtime === undefined ? {} : { runtime: body.runtime }),
    },
    placement: { ...size, ...origin.placement },
  }
}
