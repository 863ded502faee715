/** The route handlers that change an Environment's variables, secret files and repositories. */
import {
  type Environment,
  normalizeFilePath,
  type RouteBody,
  type routes,
  ServiceError,
} from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { Visitor } from '../accounts/index.ts'
import { auditText, recordAudit } from '../audit/index.ts'
import { type Bundle, folderOf } from './bundle.ts'
import { parseEnv } from './env-text.ts'
import type { EnvironmentContext, EnvironmentReference } from './environment-context.ts'
import { viewEnvironment } from './environment-view.ts'
import { makeVersion } from './make-version.ts'
import { requireEnvironment, targetOf } from './require-environment.ts'

/** What the audit log tells of a change: never a value. */
type Told = {
  kind: 'variable' | 'file' | 'secrets' | 'repository'
  change: 'set' | 'removed' | 'replaced' | 'added'
  key?: string
  variables?: number
  files?: number
}

const changeBundle = async (
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  told: Told,
  bundle: (current: Bundle) => Bundle,
): Promise<Environment> => {
  const environment = await requireEnvironment(context, caller, reference)
  const changed = await makeVersion(context, environment, {
    bundle,
    alsoChange: async (tx, isNew) => {
      if (!isNew) return
      const { key, ...rest } = told
      await recordAudit(tx, caller, {
        action: 'environment.contents_changed',
        now: context.clock.now(),
        ...targetOf(environment),
        details: { ...rest, ...(key === undefined ? {} : { key: auditText(key) }) },
      })
    },
  })
  return viewEnvironment(changed)
}

/** Returns the record without the key. Throws `not_found` if the record does not have it. */
const removeKey = <Value>(
  record: Readonly<Record<string, Value>>,
  key: string,
): Readonly<Record<string, Value>> => {
  if (!Object.hasOwn(record, key)) throw new ServiceError('not_found')
  return Object.fromEntries(Object.entries(record).filter(([each]) => each !== key))
}

/** Replaces all variables and all secret files. A part that is missing in the body is cleared. */
export function replaceSecrets(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  body: RouteBody<(typeof routes)['replaceEnvironmentSecrets']>,
): Promise<Environment> {
  const variables = parseEnv(body.envContents ?? '')
  const files = Object.fromEntries((body.secretFiles ?? []).map(({ path, contents }) => [path, contents]))
  const told: Told = {
    kind: 'secrets',
    change: 'replaced',
    variables: Object.keys(variables).length,
    files: Object.keys(files).length,
  }
  return changeBundle(context, caller, reference, told, (bundle) => ({ ...bundle, variables, files }))
}

/** Adds or replaces a variable. */
export function setVariable(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  { key, value }: RouteBody<(typeof routes)['setEnvironmentVariable']>,
): Promise<Environment> {
  return changeBundle(context, caller, reference, { kind: 'variable', change: 'set', key }, (bundle) => ({
    ...bundle,
    variables: { ...bundle.variables, [key]: value },
  }))
}

/** Removes a variable. Throws `not_found`. */
export function removeVariable(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  key: string,
): Promise<Environment> {
  return changeBundle(context, caller, reference, { kind: 'variable', change: 'removed', key }, (bundle) => ({
    ...bundle,
    variables: removeKey(bundle.variables, key),
  }))
}

/** Adds or replaces a secret file. */
export function setFile(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  { path, contents }: RouteBody<(typeof routes)['setEnvironmentFile']>,
): Promise<Environment> {
  return changeBundle(context, caller, reference, { kind: 'file', change: 'set', key: path }, (bundle) => ({
    ...bundle,
    // A file that was saved under another spelling of this path is replaced.
    files: {
      ...Object.fromEntries(
        Object.entries(bundle.files).filter(([each]) => each === path || normalizeFilePath(each) !== path),
      ),
      [path]: contents,
    },
  }))
}

/** Removes a secret file. Throws `not_found`. */
export function removeFile(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  path: string,
): Promise<Environment> {
  return changeBundle(
    context,
    caller,
    reference,
    { kind: 'file', change: 'removed', key: path },
    (bundle) => ({
      ...bundle,
      files: removeKey(bundle.files, Object.hasOwn(bundle.files, path) ? path : normalizeFilePath(path)),
    }),
  )
}

/** Adds a repository. Throws `conflict` if it was already added or would be cloned into the folder of another one. */
export function addRepository(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  body: RouteBody<(typeof routes)['addEnvironmentRepository']>,
): Promise<Environment> {
  return changeBundle(
    context,
    caller,
    reference,
    { kind: 'repository', change: 'added', key: body.fullName },
    (bundle) => {
      const { provider, repositoryId, fullName } = body
      const taken = bundle.repositories.find(
        (other) =>
          (other.provider === provider && other.repositoryId === repositoryId) ||
          folderOf(other) === folderOf(body),
      )
      if (taken)
        throw new ServiceError('conflict', {
          message: `${taken.fullName} was already added, or is cloned into the same folder. Remove it first.`,
        })
      const repository = {
        id: newUuid(),
        provider,
        repositoryId,
        fullName,
        baseBranch: body.baseBranch ?? null,
        setupScript: body.setupScript ?? null,
        addedBy: caller.userId,
      }
      return { ...bundle, repositories: [...bundle.repositories, repository] }
    },
  )
}

/** Removes a repository. Throws `not_found`. */
export function removeRepository(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  id: string,
): Promise<Environment> {
  const told: Told = { kind: 'repository', change: 'removed' }
  return changeBundle(context, caller, reference, told, (bundle) => {
    const removed = bundle.repositories.find((repository) => repository.id === id)
    if (!removed) throw new ServiceError('not_found')
    told.key = removed.fullName
    return { ...bundle, repositories: bundle.repositories.filter((repository) => repository !== removed) }
  })
}
