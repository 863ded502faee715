/** Pages of the dashboard that mails lead to. The dashboard tests that it has each of them. */
export const appPaths = {
  docks: () => '/docks',
  dock: (id: string) => `/docks/${id}`,
  organizations: () => '/organizations',
  invitation: (token: string) => `/invitations/${token}`,
  resetPassword: (token: string) => `/reset-password?${new URLSearchParams({ token })}`,
  /** The sign-in, which leads on to a path of the dashboard or of the service. */
  signIn: (next: string) => `/sign-in?${new URLSearchParams({ next })}`,
} as const
