/**
 * The GitHub App of the instance. Settings of the operator come first; without them, the App that an instance admin made
 * by the manifest flow.
 */
import { createPrivateKey, sign } from 'node:crypto'
import { columnsOf } from '../../../database/columns.ts'
import type { Db, Row } from '../../../database/database.ts'
import { instanceOwner, type SealedColumn, type Sealer } from '../../../sealing/index.ts'

export type AppAccess = { clientId: string; clientSecret: string }

export type GithubApp = {
  source: 'settings' | 'manifest'
  appId: number
  slug: string
  /** Its page at GitHub. */
  url: string
  privateKey: string
  webhookSecret: string
  /** For the sign-in that proves who administers a repository. Null: not configured. */
  oauth: AppAccess | null
}

/** The App of the operator's settings. */
export type AppSettings = Omit<GithubApp, 'source' | 'url'>

export type AppRow = Row<'github_apps'>
type SecretColumn = 'sealed_client_secret' | 'sealed_webhook_secret' | 'sealed_private_key'

const sealedColumn = (column: SecretColumn): SealedColumn => ({
  table: 'github_apps',
  column,
  rowIdColumn: 'id',
  ownerKind: 'instance',
  ownerColumn: 'instance_id',
})

/** The sealed columns of this module, which a rotation of the sealing keys must rewrite. */
export const githubSealedColumns: readonly SealedColumn[] = [
  sealedColumn('sealed_client_secret'),
  sealedColumn('sealed_webhook_secret'),
  sealedColumn('sealed_private_key'),
]

export function secretPlace(rowId: string, column: SecretColumn) {
  return { table: 'github_apps', column, rowId }
}

export type FindApp = () => Promise<GithubApp | null>

/** Returns a function that finds the App. It opens the secrets of a row once. */
export function createFindApp(options: {
  db: Db
  sealer: Sealer
  settings: AppSettings | null
  githubUrl: string
}): FindApp {
  const { db, sealer, settings, githubUrl } = options
  let opened: { id: string; app: Promise<GithubApp> } | null = null

  const open = async (row: AppRow): Promise<GithubApp> => {
    const secret = (column: SecretColumn) =>
      sealer.open(instanceOwner, secretPlace(row.id, column), row[column])
    return {
      source: 'manifest',
      appId: row.app_id,
      slug: row.slug,
      url: row.url,
      privateKey: await secret('sealed_private_key'),
      webhookSecret: await secret('sealed_webhook_secret'),
      oauth: { clientId: row.client_id, clientSecret: await secret('sealed_client_secret') },
    }
  }

  return async () => {
    if (settings)
      return {
        ...settings,
        source: 'settings',
        url: `${githubUrl}/${githubUrl === 'https://github.com' ? 'apps' : 'github-apps'}/${settings.slug}`,
      }
    const row = await db.selectFrom('github_apps').select(columnsOf('github_apps')).executeTakeFirst()
    if (!row) return null
    if (opened?.id !== row.id) {
      const app = open(row)
      const mine = { id: row.id, app }
      opened = mine
      app.catch(() => {
        if (opened === mine) opened = null
      })
    }
    return opened.app
  }
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Returns the authorization header of the App itself. GitHub allows ten minutes and clocks that are a minute wrong. */
export function appAuthorization({ appId, privateKey }: GithubApp, now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000)
  const signed = `${base64url({ alg: 'RS256', typ: 'JWT' })}.${base64url({
    iat: seconds - 60,
    exp: seconds + 540,
    iss: String(appId),
  })}`
  const signature = sign('sha256', Buffer.from(signed), createPrivateKey(privateKey))
  return `Bearer ${signed}.${signature.toString('base64url')}`
}
