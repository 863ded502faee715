/** GET and PATCH /v1/me/profile. */
import { type Profile, ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { Db, Row } from '../../database/database.ts'
import type { Caller } from './caller.ts'

export type AccountContext = { db: Db; clock: Clock }

const columns = ['id', 'name', 'image', 'bio', 'created_at', 'updated_at'] as const

const view = (row: Pick<Row<'users'>, (typeof columns)[number]>): Profile => ({
  userId: row.id,
  displayName: row.name,
  avatarUrl: row.image,
  bio: row.bio,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

/** Returns the caller's profile. Throws `not_found` if the user no longer exists. */
export async function readProfile(db: Db, caller: Caller): Promise<Profile> {
  const row = await db.selectFrom('users').select(columns).where('id', '=', caller.userId).executeTakeFirst()
  if (!row) throw new ServiceError('not_found')
  return view(row)
}

/** Changes only the fields that are present in the body. */
export async function updateProfile(
  { db, clock }: AccountContext,
  caller: Caller,
  body: { displayName?: string | undefined; avatarUrl?: string | undefined; bio?: string | undefined },
): Promise<Profile> {
  const row = await db
    .updateTable('users')
    .set({
      ...(body.displayName === undefined ? {} : { name: body.displayName }),
      ...(body.avatarUrl === undefined ? {} : { image: body.avatarUrl }),
      ...(body.bio === undefined ? {} : { bio: body.bio }),
      updated_at: clock.now(),
    })
    .where('id', '=', caller.userId)
    .returning(columns)
    .executeTakeFirst()
  if (!row) throw new ServiceError('not_found')
  return view(row)
}
