/** The routes that change what an Environment holds: variables, secret files, repositories. */
import { type Environment, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { Visitor } from '../../accounts/index.ts'
import { type Bundle, folderOf } from '../bundle.ts'
import { parseEnv } from '../env-text.ts'
import type { EnvironmentContext, EnvironmentReference } from '../environment-context.ts'
import { viewEnvironment } from '../environment-view.ts'
import { makeVersion } from '../make-version.ts'
import { requireEnvironment } from '../require-environment.ts'

const changed = async (
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  bundle: (current: Bundle) => Bundle,
): Promise<Environment> => {
  const environment = await requireEnvironment(context, caller, reference)
  return viewEnvironment(await makeVersion(context, environment, { bundle }))
}

const without = <Value>(
  record: Readonly<Record<string, Value>>,
  key: string,
): Readonly<Record<string, Value>> => {
  if (!Object.hasOwn(record, key)) throw new ServiceError('not_found')
  return Object.fromEntries(Object.entries(record).filter(([each]) => each !== key))
}

/** Replaces all variables and secret files; a part that is left out is dropped. */
export function replaceSecrets(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  body: RouteBody<(typeof routes)['replaceEnvironmentSecrets']>,
): Promise<Environment> {
  return changed(context, caller, reference, (bundle) => ({
    ...bundle,
    variables: parseEnv(body.envContents ?? ''),
    files: Object.fromEntries((body.secretFiles ?? []).map(({ path, contents }) => [path, contents])),
  }))
}

export function setVariable(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  { key, value }: RouteBody<(typeof routes)['setEnvironmentVariable']>,
): Promise<Environment> {
  return changed(context, caller, reference, (bundle) => ({
    ...bundle,
    variables: { ...bundle.variables, [key]: value },
  }))
}

/** Throws `not_found` for a variable that is not there. */
export function removeVariable(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  key: string,
): Promise<Environment> {
  return changed(context, caller, reference, (bundle) => ({
    ...bundle,
    variables: without(bundle.variables, key),
  }))
}

export function setFile(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  { path, contents }: RouteBody<(typeof routes)['setEnvironmentFile']>,
): Promise<Environment> {
  return changed(context, caller, reference, (bundle) => ({
    ...bundle,
    files: { ...bundle.files, [path]: contents },
  }))
}

/** Throws `not_found` for a file that is not there. */
export function removeFile(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  path: string,
): Promise<Environment> {
  return changed(context, caller, reference, (bundle) => ({ ...bundle, files: without(bundle.files, path) }))
}

/** Throws `conflict` for one that is there already, or that would be cloned into the folder of another. */
export function addRepository(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  body: RouteBody<(typeof routes)['addEnvironmentRepository']>,
): Promise<Environment> {
  return changed(context, caller, reference, (bundle) => {
    const { provider, repositoryId, fullName } = body
    const taken = bundle.repositories.find(
      (other) =>
        (other.provider === provider && other.repositoryId === repositoryId) ||
        folderOf(other) === folderOf(body),
    )
    if (taken)
      throw new ServiceError('conflict', {
        message: `${taken.fullName} is there already, or would be cloned into the same folder.`,
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

/** Throws `not_found` for a repository that is not there. */
export function removeRepository(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  id: string,
): Promise<Environment> {
  return changed(context, caller, reference, (bundle) => {
    const repositories = bundle.repositories.filter((repository) => repository.id !== id)
    if (repositories.length === bundle.repositories.length) throw new ServiceError('not_found')
    return { ...bundle, repositories }
  })
}
