/** Bundles tests of the SDK with the shim of Vitest, so that any runtime can run them as a program. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const checkout = new URL('../../../', import.meta.url).pathname
const shim = join(checkout, 'tests/prove/sdk/test-shim.ts')

/** Those that need nothing but the SDK. Each runs on its own, because hooks are for one file. */
export const testFiles = [
  'client.test.ts',
  'retries.test.ts',
  'processes.test.ts',
  'local/unpack-tar.test.ts',
] as const

/** Writes a program that runs the file's tests and prints the outcome as JSON. Returns its path. */
export async function bundleTest(file: string, folder: string): Promise<string> {
  const name = file.replaceAll('/', '-').replace('.test.ts', '')
  const entry = join(folder, `${name}.entry.ts`)
  await writeFile(
    entry,
    `import ${JSON.stringify(join(checkout, 'packages/sdk/src', file))}
import process from 'node:process'
import { runTests } from ${JSON.stringify(shim)}
process.stdout.write(JSON.stringify(await runTests()) + '\\n', () => process.exit(0))\n`,
  )
  const bundle = await rolldown({
    input: entry,
    external: /^node:/,
    platform: 'node',
    resolve: { alias: { vitest: shim } },
    transform: { target: 'es2022' },
  })
  const program = join(folder, `${name}.mjs`)
  await bundle.write({ file: program, format: 'esm', codeSplitting: false })
  await bundle.close()
  return program
}
