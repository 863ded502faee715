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
import { type Bundle, folderOf } from './bundle.ts'
import { parseEnv } from './env-text.ts'
import type { EnvironmentContext, EnvironmentReference } from './environment-context.ts'
import { viewEnvironment } from './environment-view.ts'
import { makeVersion } from './make-version.ts'
import { requireEnvironment } from './require-environment.ts'

const changeBundle = async (
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  bundle: (current: Bundle) => Bundle,
): Promise<Environment> => {
  const environment = await requireEnvironment(context, caller, reference)
  return viewEnvironment(await makeVersion(context, environment, { bundle }))
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
  return changeBundle(context, caller, reference, (bundle) => ({
    ...bundle,
    variables: parseEnv(body.envContents ?? ''),
    files: Object.fromEntries((body.secretFiles ?? []).map(({ path, contents }) => [path, contents])),
  }))
}

/** Adds or replaces a variable. */
export function setVariable(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  { key, value }: RouteBody<(typeof routes)['setEnvironmentVariable']>,
): Promise<Environment> {
  return changeBundle(context, caller, reference, (bundle) => ({
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
  return changeBundle(context, caller, reference, (bundle) => ({
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
  return changeBundle(context, caller, reference, (bundle) => ({
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
  return changeBundle(context, caller, reference, (bundle) => ({
    ...bundle,
    files: removeKey(bundle.files, Object.hasOwn(bundle.files, path) ? path : normalizeFilePath(path)),
  }))
}

/** Adds a repository. Throws `conflict` if it was already added or would be cloned into the folder of another one. */
export function addRepository(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  body: RouteBody<(typeof routes)['addEnvironmentRepository']>,
): Promise<Environment> {
  return changeBundle(context, caller, reference, (bundle) => {
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
  })
}

/** Removes a repository. Throws `not_found`. */
export function removeRepository(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  id: string,
): Promise<Environment> {
  return changeBundle(context, caller, reference, (bundle) => {
    const repositories = bundle.repositories.filter((repository) => repository.id !== id)
    if (repositories.length === bundle.repositories.length) throw new ServiceError('not_found')
    return { ...bundle, repositories }
  })
}
