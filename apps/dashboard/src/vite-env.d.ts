declare module '*.css'
/** Set by the build. */
interface ImportMeta {
  readonly env: { readonly DEV: boolean }
}
