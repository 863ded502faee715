import { createFreshDatabase } from '@dock/testkit'
import { expect, it } from 'vitest'
import { generateTableTypes } from './table-types.ts'

it('writes the types that the sources contain; run script/generate-table-types after a migration', async () => {
  const database = await createFreshDatabase()
  try {
    const text = await generateTableTypes(database.db)
    await expect(text).toMatchFileSnapshot('../src/database/table-types.ts')
  } finally {
    await database.drop()
  }
})
