import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Rolldown } from 'vite'

type Context = Rolldown.ChunkingContext

/** Returns all modules that the entry of the pages imports, also through others. What is imported on demand is not among them. */
const firstLoad = (context: Context, entry: string): Set<string> => {
  const found = new Set([entry])
  for (const id of found) for (const next of context.getModuleInfo(id)?.importedIds ?? []) found.add(next)
  return found
}

let first: Set<string> | undefined

/** Puts the first load into one chunk: small files compress badly, and each costs a request. */
const chunkOf = (id: string, context: Context): string | null => {
  first ??= firstLoad(context, `${import.meta.dirname}/src/main.tsx`)
  return first.has(id) ? 'first' : null
}

export default defineConfig({
  plugins: [react(), tailwind()],
  build: {
    // The policy of the pages allows no inline script and no data: module.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // A style sheet of a part that is loaded later would not be asked for again if it was lost.
    cssCodeSplit: false,
    target: 'es2023',
    // The size gate reads which files the first page loads.
    manifest: true,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: chunkOf }] } } },
  },
})
