/** The version of package.json, written here by the build. */
declare const dockVersion: string | undefined

export const version: string = typeof dockVersion === 'string' ? dockVersion : '0.0.0-source'
