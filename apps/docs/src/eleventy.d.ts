/** Eleventy has no types for its own class. */
declare module '@11ty/eleventy' {
  type Config = {
    setLibrary(extension: string, library: unknown): void
    addTemplate(path: string, content: string): void
  }
  export default class Eleventy {
    constructor(
      input: string,
      output: string,
      options: { quietMode: boolean; config: (config: Config) => object },
    )
    toJSON(): Promise<{ url: string; content: string }[]>
  }
}
