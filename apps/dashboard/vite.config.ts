import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

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
  },
})
