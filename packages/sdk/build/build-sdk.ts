/** Builds the package that is published as `@dock/sdk`: one module without dependencies, and its types. */
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'

const run = promisify(execFile)
const checkout = new URL('../../../', import.meta.url).pathname

/** Bundles the SDK into `folder`. What only works with local files is a chunk of its own, which browsers never load. */
export async function bundleSdk(folder: string): Promise<void> {
  const bundle = await rolldown({
    input: { index: join(checkout, 'packages/sdk/src/index.ts') },
    external: /^node:/,
    platform: 'neutral',
    experimental: { attachDebugInfo: 'none' },
  })
  // Small, but in lines: Node prints the line of an error that nobody catches.
  const minify = { compress: true, mangle: true, codegen: { removeWhitespace: false } }
  await bundle.write({ dir: folder, format: 'esm', minify, comments: false, chunkFileNames: '[name].js' })
  await bundle.close()
  // The indentation alone is 4 % of the package. No text of ours has a tab at the start of a line.
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.js')) continue
    const code = await readFile(join(folder, name), 'utf8')
    await writeFile(join(folder, name), code.replaceAll(/^\t+/gm, ''))
  }
}

/** TypeScript leaves the endings of imports as they are written. */
const withEndingsOfJavaScript = async (folder: string): Promise<void> => {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'"))
  }
}

const writeTypes = async (folder: string): Promise<void> => {
  const draft = join(folder, 'draft')
  const args = [
    '--declaration',
    '--emitDeclarationOnly',
    '--noEmit',
    'false',
    '--outDir',
    draft,
    '--rootDir',
    join(checkout, 'packages'),
    '--skipLibCheck',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--target',
    'esnext',
    '--module',
    'nodenext',
    '--allowImportingTsExtensions',
    '--types',
    'node',
    '--ignoreConfig',
    join(checkout, 'packages/sdk/src/index.ts'),
  ]
  // `--types` are looked for from the folder that it is started in.
  await run(join(checkout, 'node_modules/.bin/tsc'), args, { cwd: checkout })
  await cp(join(draft, 'sdk/src'), join(folder, 'types'), { recursive: true })
  await rm(draft, { recursive: true })
  await withEndingsOfJavaScript(join(folder, 'types'))
}

/** Writes the whole package into `folder`, which is emptied first. */
export async function buildSdk(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await bundleSdk(folder)
  await writeTypes(folder)
  const { version } = JSON.parse(await readFile(join(checkout, 'packages/sdk/package.json'), 'utf8'))
  const manifest = {
    name: '@dock/sdk',
    version,
    license: 'Apache-2.0',
    type: 'module',
    description: 'Isolated Linux machines on demand: the SDK of Dock',
    engines: { node: '>=20' },
    sideEffects: false,
    exports: { '.': { types: './types/index.d.ts', default: './index.js' } },
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await cp(join(checkout, 'LICENSE'), join(folder, 'LICENSE'))
  await cp(join(checkout, 'docs/sdk.md'), join(folder, 'README.md'))
}
