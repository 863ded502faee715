import { useCallback, useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { readVariables } from './read-variables.ts'

export type Secrets = { variables: ReadonlyMap<string, string>; files: ReadonlyMap<string, string> }

/** Secrets are hidden again after this time, also if nobody looks. */
const shownMs = 60_000

/**
 * Reads the secrets of an Environment for a moment. They are only in the state of the component that asked: in no query
 * cache and no address. They are gone after a minute, when `version` changes, and when the component is gone.
 */
export function useSecrets(ref: string, version: number) {
  const [secrets, setSecrets] = useState<{ of: string; values: Secrets }>()
  const key = `${ref} ${version}`
  useEffect(() => {
    if (!secrets) return
    const timer = setTimeout(() => setSecrets(undefined), shownMs)
    return () => clearTimeout(timer)
  }, [secrets])
  const reveal = useCallback(async (): Promise<void> => {
    const { envContents, secretFiles } = await api.call('revealEnvironmentSecrets', { params: { ref } })
    setSecrets({
      of: key,
      values: {
        variables: readVariables(envContents),
        files: new Map(secretFiles.map(({ path, contents }) => [path, contents])),
      },
    })
  }, [ref, key])
  const hide = useCallback(() => setSecrets(undefined), [])
  return { secrets: secrets?.of === key ? secrets.values : undefined, reveal, hide }
}
