/**
 * Sandbox ids. They have a fixed length, because runsc matches prefixes, and contain Dock and generation, so that
 * sandboxes can be listed without any other file.
 */

const pattern = /^d([0-9a-f]{32})g([0-9a-f]{8})$/

/** Returns the sandbox id of a Dock's boot. */
export function sandboxId(dockId: string, generation: number): string {
  return `d${dockId.replaceAll('-', '').toLowerCase()}g${generation.toString(16).padStart(8, '0')}`
}

/** Parses a sandbox id. Returns undefined for any other name. */
export function parseSandboxId(id: string): { dockId: string; generation: number } | undefined {
  const match = pattern.exec(id)
  if (!match?.[1] || !match[2]) return undefined
  const hex = match[1]
  const dockId = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
  return { dockId, generation: Number.parseInt(match[2], 16) }
}
