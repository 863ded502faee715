/** The SDK as it is published, and the scenario's code as JavaScript that Node 20 and browsers run. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { transform } from '@swc/core'
import { bundleSdk } from '../../packages/sdk/build/build-sdk.ts'

export type BuiltSdk = { folder: string; sdk: string; scenarioCode: string }

/** Converts a file of this folder. Its imports become those of the built files. */
const javaScriptOf = async (file: string): Promise<string> => {
  const { code } = await transform(await readFile(new URL(file, import.meta.url), 'utf8'), {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  })
  return code.replace("'@dock/sdk'", "'./index.js'").replace("'./typescript.ts'", "'./typescript.js'")
}

/** Writes the SDK (index.js with its chunks), typescript.js and page.js into `folder`. */
export async function buildForClients(folder: string): Promise<BuiltSdk> {
  await mkdir(folder, { recursive: true })
  await bundleSdk(folder)
  const scenarioCode = join(folder, 'typescript.js')
  await writeFile(scenarioCode, await javaScriptOf('typescript.ts'))
  await writeFile(join(folder, 'page.js'), await javaScriptOf('chromium-page.ts'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}\n')
  return { folder, sdk: join(folder, 'index.js'), scenarioCode }
}
