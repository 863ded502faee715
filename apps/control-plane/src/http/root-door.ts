/** Which connections came by the socket that only root can connect to. The kernel says so, no header can. */
const sockets = new WeakSet<object>()

/** Marks a connection that root's own socket took. */
export function markFromRoot(socket: object): void {
  sockets.add(socket)
}

/** True if the request came on such a connection. */
export function isFromRoot(request: { socket: object } | undefined): boolean {
  return request !== undefined && sockets.has(request.socket)
}
