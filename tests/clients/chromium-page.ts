/** The scenario in a page. Files are written and read one by one, because a page has no folders. */
import * as sdk from '@dock/sdk'
import { runScenario, type Scenario } from './typescript.ts'

export function runInPage({ name, scenario }: { name: string; scenario: Scenario }): Promise<unknown> {
  return runScenario(sdk, scenario, {
    name,
    // The page's own address, and its session.
    connection: {},
    upload: async (files, { folder, files: texts }) => {
      for (const [path, text] of Object.entries(texts)) {
        await files.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/, ''))
        // A stream, which browsers do not send over HTTP/1.1 as it is.
        await files.write(`${folder}/${path}`, new Blob([text]).stream())
      }
    },
    download: async (files, { download }) => {
      const texts: Record<string, string> = {}
      for (const { name: file } of await files.list(download))
        texts[file] = await files.readText(`${download}/${file}`)
      return texts
    },
  })
}
