/** The values of the advanced form, and the request that they make. */
import type { RuntimeName } from '@dock/sdk'
import { type SizeText, sizesOf } from '../../../components/size-fields.tsx'
import { type TtlText, ttlSecondsOf, ttlTextOf } from '../../../lib/ttl.ts'
import type { NewDock } from './create-lines.ts'

export type CreateForm = {
  workspaceId: string
  name: string
  /** What the disk starts from: an image or a Template. */
  source: 'image' | 'from'
  image: string
  from: string
  /** Empty: the host decides. A Template decides by its disk. */
  runtime: RuntimeName | ''
  size: SizeText
  ttl: TtlText
  /** An id, `default`, or `none`. */
  environment: string
  env: string
  setupScript: string
}

export const emptyForm: CreateForm = {
  workspaceId: '',
  name: '',
  source: 'image',
  image: '',
  from: '',
  runtime: '',
  size: { cpus: '2', memoryMiB: '4096', diskGiB: '20' },
  ttl: ttlTextOf(null),
  environment: 'default',
  env: '',
  setupScript: '',
}

/** Reads lines of NAME=VALUE. Throws an Error that names the line which is none. */
export function readEnv(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=')
      if (at < 1) throw new Error(`Not a variable: ${line.slice(0, 60)}. Write NAME=VALUE, one a line.`)
      return [line.slice(0, at).trim(), line.slice(at + 1)]
    }),
  )
}

export function newDockOf(form: CreateForm): NewDock {
  const env = readEnv(form.env)
  const ttlSeconds = ttlSecondsOf(form.ttl)
  const body = {
    workspaceId: form.workspaceId,
    ...(form.name === '' ? {} : { name: form.name }),
    ...(form.source === 'image' && form.image !== '' ? { image: form.image } : {}),
    ...(form.source === 'from' && form.from !== '' ? { from: form.from } : {}),
    ...sizesOf(form.size),
    ...(ttlSeconds === null ? {} : { ttlSeconds }),
    ...(form.environment === 'none' ? { noEnv: true } : {}),
    ...(['none', 'default'].includes(form.environment) ? {} : { environment: form.environment }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(form.setupScript === '' ? {} : { setupScript: form.setupScript }),
  }
  return form.source === 'image' && form.runtime !== '' ? { body, runtime: form.runtime } : { body }
}
