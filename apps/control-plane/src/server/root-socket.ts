/** Connections accepted on the Unix socket that only root can connect to. The kernel enforces that, not a header. */
const sockets = new WeakSet<object>()

/** Marks a connection that was accepted on root's socket. */
export function markFromRoot(socket: object): void {
  sockets.add(socket)
}

/** True if the request arrived on root's socket. */
export function isFromRoot(request: { socket: object } | undefined): boolean {
  return request !== undefined && sockets.has(request.socket)
}
