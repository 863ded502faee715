/**
 * Modules of ssh2 that patches reach into. They are imported, not required: a bundle holds the instance that its server
 * uses.
 */
declare module 'ssh2/lib/protocol/*.js' {
  const exported: object
  export = exported
}
