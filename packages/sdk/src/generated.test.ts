import { readFile } from 'node:fs/promises'
import type * as contract from '@dock/contract'
import { expect, expectTypeOf, it } from 'vitest'
import { generatedFiles } from '../generate/generated-files.ts'
import type * as sdk from './index.ts'

it('is up to date with the contract: run script/generate-sdk', async () => {
  for (const [name, content] of Object.entries(generatedFiles()))
    expect(await readFile(new URL(`generated/${name}`, import.meta.url), 'utf8'), name).toBe(content)
})

it('has the types of the contract', () => {
  expectTypeOf<sdk.DockInfo>().toEqualTypeOf<contract.Dock>()
  expectTypeOf<sdk.DockProcess>().toEqualTypeOf<contract.DockProcess>()
  expectTypeOf<sdk.FileChange>().toEqualTypeOf<contract.FileChange>()
  expectTypeOf<sdk.DockStats>().toEqualTypeOf<contract.DockStats>()
  expectTypeOf<sdk.Environment>().toEqualTypeOf<contract.Environment>()
  expectTypeOf<sdk.ErrorCode>().toEqualTypeOf<contract.ErrorCode>()
  expectTypeOf<sdk.RouteName>().toEqualTypeOf<contract.RouteName>()
})
