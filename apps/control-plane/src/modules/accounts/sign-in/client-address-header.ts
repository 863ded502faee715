/** Header that passes the client's IP address to better-auth. A value sent by the client is overwritten. */
export const clientAddressHeader = 'x-dock-client-address'
