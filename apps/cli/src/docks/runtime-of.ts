import type { HostVersions } from '@dock/sdk'
import { formatAge } from '../output/formats.ts'

/** Returns `gvisor 20240729.0 from Debian, 853 d old`, with the parts that are known. */
export function runtimeOf(runtime: string, release: HostVersions['runtimeRelease']): string {
  if (!release) return runtime
  const { version, source, releasedAt } = release
  const age = releasedAt === null ? '' : `, ${formatAge(releasedAt)} old`
  return `${runtime} ${version}${source === null ? '' : ` from ${source}`}${age}`
}
