/** Settings that Dock no longer has. A start says of each that is still set what Dock does instead. */

/** What Dock does in place of settings that it no longer has. */
const removedSettings: Readonly<Record<string, string>> = {
  CHATGPT_SCOPE: 'Dock asks for `openid profile email offline_access`',
  DOCK_COPY_AGE_SECONDS: 'Dock copies a Snapshot after 30 seconds',
  DOCK_COPY_DRILL_AGAIN_SECONDS: 'Dock proves a copy at most once a day',
  DOCK_COPY_GRACE_SECONDS: 'Dock removes objects that were unused for an hour',
  DOCK_COPY_RETRY_SECONDS: 'Dock repeats a failed copy after 30 seconds, then ever later, up to an hour',
  DOCK_COPY_STRAYS_SECONDS: 'Dock searches objects without a row once a day',
  DOCK_COPY_SWEEP_SECONDS: 'Dock removes unused objects every ten minutes',
  DOCK_COPY_TIMES: 'Dock has fixed times for copies',
  DOCK_DATABASE_TIMEOUT_SECONDS: 'Dock cancels a statement of the database after 120 seconds',
  DOCK_LIMIT_ENVIRONMENTS: 'set the limit of an organization with `script/admin limits`',
  DOCK_LIMIT_REPOSITORIES: 'set the limit of an organization with `script/admin limits`',
  DOCK_LIMIT_TEMPLATES: 'set the limit of an organization with `script/admin limits`',
  DOCK_LIMIT_WORKSPACES: 'set the limit of an organization with `script/admin limits`',
  DOCK_NAMES_PER_SECOND: 'a Dock may send 200 packets a second to the name server',
  DOCK_NEW_CONNECTIONS_PER_SECOND: 'a Dock may open 500 connections a second',
  DOCK_OBJECTS_RESERVE_MIB: 'copies in the data folder leave 2 GiB of the disk free',
  DOCK_SNAPSHOT_FILE_MAX_MIB: 'one response has at most 1 GiB of a Snapshot’s file',
}

/** Returns a warning for each setting of the environment that Dock no longer has. */
export function warningsOfRemovedSettings(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(removedSettings)
    .filter(([name]) => environment[name] !== undefined)
    .map(([name, instead]) => `${name} is no longer a setting: ${instead}.`)
}
