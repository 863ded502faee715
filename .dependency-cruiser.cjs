/** The import rules of docs/architecture.md: one direction, no circles. Run by script/test. */
const ours = '^(packages|apps|tests|bench)/'
const app = '^apps/control-plane/src'
const agent = '^apps/host-agent/src'
const packages = '^packages/'
const tests = '\\.test\\.ts$'

/** What a folder of ours may import of ours, besides itself; tests may also use the testkit. */
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  comment: `${name} may import only: ${allowed.join(', ') || 'nothing of ours'}`,
  from: { path: from, pathNot: tests },
  to: { path: ours, pathNot: [from, ...allowed] },
})

const contract = '^packages/contract/'
const foundation = '^packages/foundation/'
const hostProtocol = '^packages/host-protocol/'
const runtime = '^packages/runtime/'
const copyFormat = '^packages/copy-format/'
const sshServer = '^packages/ssh-server/'
const sdk = '^packages/sdk/'
const mcp = '^packages/mcp/'
const engine = `${app}/engine/`
const database = `${app}/database/`
const mail = `${app}/mail/`
const publicWeb = `${app}/public-web/`
const moduleFaces = `${app}/modules/[^/]+/index\\.ts$`

/** The folders of the gVisor driver, lowest first. Each may import those before it. */
const gvisor = '^packages/runtime-gvisor/src'
const gvisorFolders = [
  'system',
  'runsc',
  'cgroup',
  'sentry',
  'memory',
  'pipes',
  'sandbox',
  'blank',
  'exec',
  'process',
]

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: { path: ours }, to: { couldNotResolve: true } },
    {
      name: 'no-tests-in-programs',
      severity: 'error',
      from: { path: '^(packages|apps)/', pathNot: [tests, '/conformance'] },
      to: { path: [tests, '^tests/', '^bench/'] },
    },

    only('contract', '^packages/contract/', []),
    only('foundation', '^packages/foundation/', []),
    only('sdk', '^packages/sdk/', [contract, foundation]),
    only('mcp', '^packages/mcp/', [sdk]),
    only('host-protocol', '^packages/host-protocol/', [contract, foundation]),
    only('copy-format', '^packages/copy-format/', []),
    only('ssh-server', '^packages/ssh-server/', [foundation]),
    only('runtime', '^packages/runtime/', [contract, foundation]),
    only('driver', '^packages/runtime-[^/]+/', [runtime, foundation]),
    ...gvisorFolders.map((folder, index) => ({
      name: `gvisor-${folder}`,
      severity: 'error',
      comment: `${folder} may import only folders before it: ${gvisorFolders.join(', ')}`,
      from: { path: `${gvisor}/${folder}/`, pathNot: tests },
      to: {
        path: [
          ...gvisorFolders.slice(index + 1).map((higher) => `${gvisor}/${higher}/`),
          `${gvisor}/[^/]+\\.ts$`,
        ],
      },
    })),
    only('microvm-link', '^packages/runtime-microvm/src/link/', [foundation]),
    only('microvm-machine', '^packages/runtime-microvm/src/machine/', [foundation]),
    only('embedded-postgres', '^packages/embedded-postgres/', [foundation]),

    only('supervisor', '^apps/supervisor/', ['^packages/embedded-postgres/', foundation]),
    only('host-agent', '^apps/host-agent/', [
      runtime,
      '^packages/runtime-[^/]+/',
      hostProtocol,
      copyFormat,
      foundation,
    ]),
    only('agent-disks', `${agent}/disks/`, [packages]),
    only('agent-network', `${agent}/network/`, [packages]),
    only('agent-process-keeper', `${agent}/process-keeper/`, [packages]),
    only('agent-sandboxes', `${agent}/sandboxes/`, [packages, `${agent}/(disks|network|process-keeper)/`]),
    only('agent-docks', `${agent}/docks/`, [packages, `${agent}/(disks|network|sandboxes)/`]),
    only('agent-watches', `${agent}/watches/`, [packages, `${agent}/(disks|network|sandboxes)/`]),
    only('agent-server', `${agent}/server/`, [packages, `${agent}/(disks|network|sandboxes|docks)/`]),
    only('docs', '^apps/docs/', [contract]),
    only('clients', '^apps/(dashboard|cli)/', [sdk, mcp]),
    only('control-plane', '^apps/control-plane/', [
      contract,
      foundation,
      hostProtocol,
      copyFormat,
      mcp,
      sdk,
      sshServer,
    ]),
    {
      name: 'only-ssh-server-uses-ssh2',
      severity: 'error',
      comment: 'ssh2 and what we amend in it lie behind the face of packages/ssh-server',
      from: { path: ours, pathNot: [tests, '^tests/', sshServer] },
      to: { path: '(^|/)node_modules/(@types/)?ssh2/' },
    },
    {
      name: 'only-the-mcp-endpoint-uses-a-client',
      severity: 'error',
      from: { path: `${app}/`, pathNot: [tests, `${app}/server/mcp-endpoint\\.ts$`] },
      to: { path: [sdk, mcp] },
    },
    {
      name: 'only-the-composition-names-a-driver',
      severity: 'error',
      from: { path: '^apps/host-agent/', pathNot: [tests, '/composition[^/]*\\.ts$'] },
      to: { path: '^packages/runtime-[^/]+/' },
    },
    {
      name: 'host-protocol-stays-at-the-hosts',
      severity: 'error',
      from: {
        path: `${app}/`,
        pathNot: [tests, `${app}/(modules/hosts|gateways/fleet)/`, `${app}/composition`],
      },
      to: { path: hostProtocol },
    },

    {
      name: 'nobody-imports-the-server',
      severity: 'error',
      from: {
        path: ours,
        pathNot: [tests, '^tests/testkit/', `${app}/server/`, `${app}/(composition|main)[^/]*\\.ts$`],
      },
      to: { path: `${app}/server/` },
    },
    only('routing', `${app}/routing/`, [contract, `${app}/modules/accounts/(caller|member|visitor)\\.ts$`]),
    only('engine', engine, [foundation, database]),
    only('object-store', `${app}/object-store/`, [foundation]),
    only('mail', mail, [contract, foundation, database, engine]),
    {
      name: 'mail-is-reached-through-its-index',
      severity: 'error',
      from: { path: ours, pathNot: [tests, mail] },
      to: { path: mail, pathNot: `${mail}index\\.ts$` },
    },
    only('public-web', publicWeb, [foundation]),
    {
      name: 'public-web-is-reached-through-its-index',
      severity: 'error',
      from: { path: ours, pathNot: [tests, publicWeb] },
      to: { path: publicWeb, pathNot: `${publicWeb}index\\.ts$` },
    },
    {
      name: 'only-modules-and-the-composition-use-public-web',
      severity: 'error',
      from: {
        path: `${app}/`,
        pathNot: [tests, publicWeb, `${app}/modules/`, `${app}/(composition|main|[a-z]+-modules)[^/]*\\.ts$`],
      },
      to: { path: publicWeb },
    },
    only('sealing', `${app}/sealing/`, [foundation, database, engine]),
    only('database', database, [contract, foundation]),
    {
      name: 'modules-meet-through-their-index',
      severity: 'error',
      from: { path: `${app}/modules/([^/]+)/`, pathNot: tests },
      to: { path: `${app}/modules/`, pathNot: [`${app}/modules/$1/`, moduleFaces] },
    },
    {
      name: 'modules-are-reached-through-their-index',
      severity: 'error',
      from: { path: `${app}/(server|gateways|operate)/`, pathNot: tests },
      to: { path: `${app}/modules/`, pathNot: moduleFaces },
    },
    {
      name: 'modules-know-no-gateway',
      severity: 'error',
      from: { path: `${app}/modules/`, pathNot: tests },
      to: { path: `${app}/(gateways|server|operate|composition|main)` },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // ssh2 is followed to, because a rule names it.
    exclude: { path: '(^|/)node_modules/(?!(@types/)?ssh2/)|^apps/dashboard/dist' },
    parser: 'swc',
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs'],
    },
  },
}
