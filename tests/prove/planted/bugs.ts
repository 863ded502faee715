/** Bugs for script/prove planted-bugs, each with the test that must catch it. */
/** The test that must fail with a bug. */
export type Catcher = { file: string; test: string }
/** `right` occurs once in `file`; the bug replaces it by `wrong`. */
export type Bug = { title: string; file: string; right: string; wrong: string; caughtBy: Catcher }

const docks = 'apps/control-plane/src/modules/docks'
const billing = 'apps/control-plane/src/modules/billing'
const model: Catcher = {
  file: 'tests/model/dock-model.test.ts',
  test: 'is what the model says, after every step',
}

export const plantedBugs: readonly Bug[] = [
  {
    title: 'a host accepts an old generation',
    file: 'apps/host-agent/src/docks/dock.ts',
    right: 'if (generation < newest) {',
    wrong: 'if (generation < 0) {',
    caughtBy: {
      file: 'apps/host-agent/src/docks/docks.test.ts',
      test: 'is refused when its generation is old, or was destroyed already',
    },
  },
  {
    title: 'a Snapshot is completed before its capture exists',
    file: 'apps/control-plane/src/modules/storage/captures/snapshot-rows.ts',
    right: "d.organization_id, 'saving', d.runtime",
    wrong: "d.organization_id, 'completed', d.runtime",
    caughtBy: model,
  },
  {
    title: 'a row of the outbox is dropped',
    file: `${docks}/core/dock-commit.ts`,
    right: '...(change.event\n',
    wrong: "...(change.event && change.event !== 'dock.hydrated'\n",
    caughtBy: model,
  },
  {
    title: 'an expired lease is ignored',
    file: 'apps/control-plane/src/engine/operation-store.ts',
    right: 'lease_until is null or lease_until <',
    wrong: "lease_until is null or lease_until + interval '1 year' <",
    caughtBy: model,
  },
  {
    title: 'an event is written although the change is not made',
    file: `${docks}/core/dock-commit.ts`,
    right: '::timestamptz from moved returning *',
    wrong: '::timestamptz from docks where id = (select id from held) returning *',
    caughtBy: {
      file: 'apps/control-plane/src/modules/webhooks/event-deliveries.test.ts',
      test: 'neither event nor delivery is written if the change is not made, or is rolled back',
    },
  },
  {
    title: 'addresses of a name are kept between requests',
    file: 'apps/control-plane/src/public-web/resolve-public.ts',
    right: 'return runWithDeadline(deadlineMs, signal, (bound) => resolve(host, bound))',
    wrong:
      'return ((globalThis as unknown as { kept?: Record<string, Promise<readonly string[]>> }).kept ??= {})[host] ??= runWithDeadline(deadlineMs, signal, (bound) => resolve(host, bound))',
    caughtBy: {
      file: 'apps/control-plane/src/public-web/resolve-public.test.ts',
      test: 'that moves to a private address between two posts',
    },
  },
  {
    title: 'a webhook is sent again after a 410',
    file: 'apps/control-plane/src/modules/webhooks/outcome.ts',
    right: "if (status === 410) return { kind: 'disable' }",
    wrong: "if (status === 410) return { kind: 'retry', at: now }",
    caughtBy: {
      file: 'apps/control-plane/src/modules/webhooks/deliver.test.ts',
      test: 'after a 410 nothing is sent, not even what was waiting',
    },
  },
  {
    title: 'one query forgets the tenant',
    file: `${docks}/core/dock-store.ts`,
    right:
      'as "barsMembers" from docks d\n      join memberships m on m.organization_id = d.organization_id and m.user_id =',
    wrong:
      'as "barsMembers" from docks d\n      join memberships m on m.organization_id = d.organization_id and m.user_id is not null or m.user_id =',
    caughtBy: model,
  },
  {
    title: 'a refused stop does not pause billing',
    file: 'apps/control-plane/src/database/functions/metering.sql',
    right: "'running') and billing_paused_at is null$$",
    wrong: "'running')$$",
    caughtBy: {
      file: `${billing}/ledger.test.ts`,
      test: 'counts nothing while a refused stop pauses billing',
    },
  },
  {
    title: 'a day is closed while a transaction may still change it',
    file: `${billing}/usage-store.ts`,
    right: '}::xid8 as settled',
    wrong: '}::xid8 or true as settled',
    caughtBy: {
      file: `${billing}/ledger.test.ts`,
      test: 'closes no day while a transaction that began on it is open',
    },
  },
  {
    title: 'a deleted Snapshot is billed on',
    file: 'apps/control-plane/src/database/functions/metering.sql',
    right: "was boolean := tg_op <> 'INSERT' and old.status = 'completed';",
    wrong: "was boolean := tg_op = 'UPDATE' and old.status = 'completed';",
    caughtBy: {
      file: `${billing}/lives.test.ts`,
      test: 'the ledger equals an independent recount of random lives with crashes',
    },
  },
  {
    title: 'an older answer of Stripe replaces a newer one',
    file: `${billing}/account-store.ts`,
    right: ' and version = ',
    wrong: ' and version >= ',
    caughtBy: {
      file: 'apps/control-plane/src/gateways/stripe/stripe-provider.test.ts',
      test: 'lets no older answer replace a newer one',
    },
  },
]
