/**
 * Bundles the programs of a server into one folder. A bundle starts in a third of the time that its sources need, with a
 * third less memory. Stack traces name the sources, through the source maps beside the bundles.
 */
import { cpSync, globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { linesOf, type SourceMapText } from './lines-of-source-map.ts'

/** Where each program begins, by the name of its bundle. */
export const programs: Readonly<Record<string, string>> = {
  'control-plane': 'apps/control-plane/src/main.ts',
  'host-agent': 'apps/host-agent/src/main.ts',
  'process-keeper': 'apps/host-agent/src/process-keeper/main.ts',
  'microvm-pump': 'packages/runtime-microvm/src/pump/main.ts',
  supervisor: 'apps/supervisor/src/main.ts',
}

/** koffi looks for its native part beside its own files. Others do without theirs, which nothing builds. */
const external = ['koffi', /\.node$/]

/** Returns the files below a folder that are no source, such as SQL. */
const dataBelow = (folder: string): string[] =>
  globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

/**
 * Makes `import.meta` of a module name the place of its source, from which modules find their files. A module with data
 * below its folder finds a copy beside the bundles instead, at the same path: a server that runs and restarts its programs
 * must not read the migrations of a later version.
 */
const keepPlaces = (checkout: string, folder: string): Plugin => ({
  name: 'keep-places',
  transform: {
    filter: { id: /^\//, code: 'import.meta' },
    handler: (code, id, { magicString }) => {
      const source = relative(checkout, id)
      const isOurs = !source.includes('node_modules/')
      if (isOurs && code.includes('createRequire'))
        throw new Error(`${source}: import what you need. A bundle cannot contain what is required.`)
      const data = isOurs ? dataBelow(dirname(id)) : []
      for (const name of data) cpSync(join(dirname(id), name), join(folder, dirname(source), name))
      const file = data.length > 0 ? source : relative(folder, id)
      const resolved = (path: string): string =>
        `process.getBuiltinModule('node:path').resolve(import.meta.dirname, ${JSON.stringify(path)})`
      const places: Record<string, string> = {
        url: `process.getBuiltinModule('node:url').pathToFileURL(${resolved(file)}).href`,
        filename: resolved(file),
        dirname: resolved(dirname(file)),
        main: 'false',
      }
      for (const { 0: whole, 1: name = '', index } of code.matchAll(/\bimport\.meta\.(\w+)/g))
        magicString?.overwrite(index, index + whole.length, places[name] ?? whole)
      return magicString && { code: magicString }
    },
  },
})

/** Writes other characters than ASCII as escapes. V8 keeps a text with any beyond Latin-1 in twice the memory. */
const escaped = (code: string): string => {
  const [raw] = /\\[^\0-\x7f]|String\.raw`[^`]*[^\0-\x7f]/.exec(code) ?? []
  if (raw !== undefined) throw new Error(`cannot be an escape in a bundle, so write it otherwise: ${raw}`)
  return code.replace(/[^\0-\x7f]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const bundle = async (checkout: string, folder: string, name: string, source: string): Promise<void> => {
  const made = await rolldown({
    input: { [name]: join(checkout, source) },
    platform: 'node',
    external,
    logLevel: 'silent',
    plugins: [keepPlaces(checkout, folder)],
    // Modules of our packages only declare: a program holds those that it uses, not every schema of the contract.
    treeshake: { moduleSideEffects: [{ test: /\/packages\/[^/]+\/src\//, sideEffects: false }] },
    // Otherwise code that only modules share which are imported later is part of the program's first file.
    experimental: { chunkOptimization: { mergeCommonChunks: false }, nativeMagicString: true },
  })
  await made.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: `${name}-[name].mjs`,
    // CommonJS modules expect them.
    banner: 'const { dirname: __dirname, filename: __filename } = import.meta;',
    // The log names classes of errors.
    keepNames: true,
    comments: false,
    sourcemap: true,
    sourcemapExcludeSources: true,
  })
  await made.close()
}

/** Writes the bundles of all programs of a checkout into `folder`, which lies two levels below it. */
export async function bundlePrograms(checkout: string, folder: string): Promise<void> {
  await Promise.all(Object.entries(programs).map(([name, source]) => bundle(checkout, folder, name, source)))
  for (const name of globSync('*.{map,mjs}', { cwd: folder })) {
    const text = await readFile(join(folder, name), 'utf8')
    const isMap = name.endsWith('.map')
    await writeFile(
      join(folder, name),
      isMap ? JSON.stringify(linesOf(JSON.parse(text) as SourceMapText)) : escaped(text),
    )
  }
}
