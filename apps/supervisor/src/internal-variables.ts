/** Variables of Dock's programs that are no settings. A test fails when a program reads a variable that is in no list. */

/** Variables that Dock's programs set for one another, or that only tests set. No operator needs them. */
export const internalVariables: Readonly<Record<string, string>> = {
  DOCK_CONTROL_DIR: 'the control plane’s folder, given by the supervisor',
  DOCK_LISTEN_FD: 'descriptor of the public listening socket, given by the supervisor',
  DOCK_ROOT_LISTEN_FD: 'descriptor of root’s listening socket, given by the supervisor',
  DOCK_SSH_LISTEN_FD: 'descriptor of the SSH gateway’s listening socket, given by the supervisor',
  DOCK_PLANS: 'the text of the file of plans, given by the supervisor',
  DOCK_STARTED_AT: 'when script/server began, for the greeting',
  DOCK_CONTROL_URL: 'where the agent finds the control plane, given by the supervisor or script/host',
  DOCK_HOST_DIR: 'the host agent’s folder, given by the supervisor or script/host',
  DOCK_RUN_DIR: 'the agent’s folder under /run, given by its launcher',
  DOCK_JOIN_TOKEN_FILE: 'file of a join token, given by the supervisor',
  DOCK_NODE: 'the node program, given to the agent’s launcher',
  DOCK_COMPILE_ONLY: 'loads a program and ends: script/install/compile',
  DOCK_FAULTS: 'fault points of crash tests',
  DOCK_IMAGE_CACHE: 'folder of built root filesystems that the data folders of tests share',
  DOCK_TEST_COPY_AGE_SECONDS: 'tests: age at which a Snapshot is copied (30)',
  DOCK_TEST_COPY_RETRY_SECONDS: 'tests: wait after a failed copy (30)',
  DOCK_TEST_COPY_SWEEP_SECONDS: 'tests: interval of removing unused objects (600)',
  DOCK_TEST_COPY_GRACE_SECONDS: 'tests: how long an object must have been unused (3600)',
  DOCK_TEST_COPY_STRAYS_SECONDS: 'tests: interval of searching objects without a row (86400)',
  DOCK_TEST_COPY_DRILL_AGAIN_SECONDS: 'tests: least time between two proofs of a copy (86400)',
  DOCK_TEST_CACHE: 'where script/test keeps what it builds once',
  DOCK_TEST_RUNSC: 'runtime for tests',
  DOCK_TEST_ROOTFS: 'root filesystem for tests',
}

/** Variables inside a Dock: given to its processes, or to the scripts that prepare it. */
export const dockVariables: readonly string[] = [
  ...['DOCK_API_KEY', 'DOCK_ID', 'DOCK_BYTES', 'DOCK_HOSTNAME', 'DOCK_NAMESERVER', 'DOCK_NEW_IDENTITY'],
  ...['DOCK_MACHINE_ID', 'DOCK_FOLDER', 'DOCK_REPOSITORY', 'DOCK_URL', 'DOCK_BRANCH', 'DOCK_SETUP'],
  ...['DOCK_EXEC_ID', 'DOCK_PROMPT_FILE'],
]
