/**
 * script/prove ssrf: tries to make a webhook reach an address that is not public: at creation, delivery, retry, test and
 * redelivery, by the guard alone and through the product's routes. Runs in a network of its own, in which every address answers, with a name server and a certificate authority
 * of its own, and proxies in the environment. The kernel counts packets: not one may leave for a forbidden address. As
 * a control, an unguarded delivery to each range is counted, and a guarded one to public addresses arrives. Needs root.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { certificatePaths, makeCertificate } from '@dock/testkit/src/make-certificate.ts'
import { type ForbiddenRange, forbiddenRanges } from '@dock/testkit/src/public-web/forbidden-addresses.ts'
import { isInOwnNetwork, nameServer, runInOwnNetwork } from './hostile/own-network.ts'
import { createReport } from './hostile/report.ts'
import { type NameServer, startNameServer } from './ssrf/name-server.ts'
import { deliverUnguarded, layNetwork, readCounts, sendDatagram } from './ssrf/network.ts'
import { startProduct } from './ssrf/product.ts'
import { post, stages } from './ssrf/stages.ts'
import { domain, receiverAddresses, ssrfVectors } from './ssrf/vectors.ts'

const folderSetting = 'DOCK_SSRF_PROOF_FOLDER'
const proxy = 'http://127.0.0.1:3128'
const vectorsMin = 150

const runInside = async (): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'dock-ssrf-'))
  try {
    const { authority } = await makeCertificate(folder, `*.${domain}`, ...receiverAddresses)
    Object.assign(process.env, {
      [folderSetting]: folder,
      NODE_EXTRA_CA_CERTS: authority,
      NODE_USE_ENV_PROXY: '1',
      ...{ HTTPS_PROXY: proxy, https_proxy: proxy, HTTP_PROXY: proxy, http_proxy: proxy, ALL_PROXY: proxy },
    })
    return await runInOwnNetwork([fileURLToPath(import.meta.url)])
  } finally {
    rmSync(folder, { recursive: true })
  }
}
if (!isInOwnNetwork()) process.exit(await runInside())

const report = createReport('ssrf')

/** Addresses at which the receiver was reached, one for each request. */
const reachedAt: string[] = []
const startReceiver = async (): Promise<void> => {
  const { key, certificate } = certificatePaths(process.env[folderSetting] ?? '')
  const server = createServer(
    { key: readFileSync(key), cert: readFileSync(certificate) },
    (request, response) => {
      reachedAt.push(request.socket.localAddress?.replace(/^::ffff:/, '') ?? '')
      const isRedirect = request.url === '/redirect'
      response.writeHead(isRedirect ? 307 : 204, isRedirect ? { location: 'https://10.0.0.1/' } : {})
      response.end()
    },
  )
  await new Promise<void>((resolve) => server.listen(443, '::', resolve))
}

/** Counts an unguarded delivery to the range. Without it, a range that no packet can reach would seem safe. */
const proveRangeIsCounted = async (
  names: NameServer,
  { range, addresses }: ForbiddenRange,
): Promise<boolean> => {
  const host = `control.${domain}`
  const before = await readCounts()
  const isCounted = async (): Promise<boolean> => {
    const after = await readCounts()
    const inRange = (after.ranges.get(range) ?? 0) > (before.ranges.get(range) ?? 0)
    // The kernel sends to the IPv4 address inside of a mapped one, and to loopback instead of an unspecified one.
    return inRange || (range === '::ffff:0:0/96' && after.strangers > before.strangers)
  }
  for (const [address] of addresses) {
    names.names.set(host, [address])
    const delivered = await deliverUnguarded(host)
    if (await isCounted()) return true
    const sent = await sendDatagram(address)
    if (await isCounted()) return true
    console.log(`       control ${range}: ${address}: ${delivered}; ${sent}`)
  }
  return false
}

const proveControls = async (names: NameServer): Promise<void> => {
  let counted = 0
  for (const range of forbiddenRanges) {
    if (await proveRangeIsCounted(names, range)) counted += 1
    else console.log(`       no packet was counted for ${range.range}`)
  }
  report.attack({
    what: 'without a guard, packets to each range are counted',
    control: counted === forbiddenRanges.length,
    holds: true,
    seen: `${counted} of ${forbiddenRanges.length} ranges`,
  })
  for (const address of receiverAddresses) {
    const name = `control${receiverAddresses.indexOf(address)}.${domain}`
    names.names.set(name, [address])
    const before = await readCounts()
    reachedAt.length = 0
    const outcome = await post(`https://${name}/hook`)
    const opened = (await readCounts()).receivers - before.receivers
    report.attack({
      what: `a delivery to ${address} arrives there`,
      control: true,
      holds: outcome.status === 204 && opened === 1 && reachedAt.join() === address,
      seen: `${outcome.error ?? outcome.status}, ${opened} connection, asked ${names.asked.get(name)} questions`,
    })
  }
}

/** Runs a part and reports whether packets left for other than public addresses. */
const withoutStrayPackets = async (
  what: string,
  part: () => Promise<{ problems: string[]; seen: string }>,
) => {
  const before = await readCounts()
  const { problems, seen } = await part()
  const after = await readCounts()
  const stray = [...after.ranges].reduce(
    (sum, [range, count]) => sum + count - before.ranges.get(range)!,
    after.strangers - before.strangers,
  )
  for (const problem of problems.slice(0, 20)) console.log(`       ${problem}`)
  report.attack({
    what,
    control: true,
    holds: problems.length === 0 && stray === 0,
    seen: `${seen}, ${problems.length} let through, ${stray} stray packets`,
  })
}

const proveStages = async (names: NameServer): Promise<void> => {
  for (const stage of stages)
    await withoutStrayPackets(`${ssrfVectors.length} vectors at ${stage.name}`, async () => {
      const problems: string[] = []
      const accepted = new Set<string>()
      for (const { kind, reason, url, name, [stage.when]: addresses } of ssrfVectors) {
        if (name !== undefined) names.names.set(name, addresses)
        const { isLetThrough, seen } = await stage.attempt(url)
        const isExpected = stage.when === 'atCreation' && kind === 'rebinding'
        if (isLetThrough && isExpected) accepted.add(url)
        const isRefusedRightly = !isLetThrough && ['validation_error', 'address_not_public'].includes(seen)
        if (isExpected ? !isLetThrough : !isRefusedRightly)
          problems.push(`${kind}, ${reason}, ${url}: ${seen}`)
      }
      const refused = ssrfVectors.length - accepted.size - problems.length
      return { problems, seen: `${refused} refused, ${accepted.size} public until later` }
    })
}

const proveOthers = async (names: NameServer): Promise<void> => {
  await withoutStrayPackets('a redirect to a private address is not followed', async () => {
    const { status } = await post(`https://control0.${domain}/redirect`)
    return { problems: status === 307 ? [] : ['no redirect came'], seen: `status ${status}` }
  })
  await withoutStrayPackets('a post asks once, so a name cannot change under it', async () => {
    const name = `once.${domain}`
    names.names.set(name, [receiverAddresses[0]])
    const { status } = await post(`https://${name}/`)
    const questions = names.asked.get(name)
    const isOnce = status === 204 && questions === 2
    return { problems: isOnce ? [] : ['more than one A and one AAAA'], seen: `${questions} questions` }
  })
  await withoutStrayPackets('name servers that fail or hang refuse, and block no file', async () => {
    const hanging = Array.from({ length: 16 }, (_, number) => `silent${number}.${domain}`)
    for (const name of hanging) names.names.set(name, 'silent')
    names.names.set(`failing.${domain}`, 'failing')
    const begin = performance.now()
    const posts = Promise.all([...hanging, `failing.${domain}`].map((name) => post(`https://${name}/`)))
    await readFile(fileURLToPath(import.meta.url))
    const fileMs = Math.round(performance.now() - begin)
    const outcomes = await posts
    const seconds = Math.round((performance.now() - begin) / 1000)
    const problems = outcomes
      .filter(({ error }) => error !== 'dns_failed')
      .map((outcome) => JSON.stringify(outcome))
    if (fileMs > 1_000) problems.push('a file had to wait')
    return { problems, seen: `refused after ${seconds} s, a file read in ${fileMs} ms` }
  })
}

/** The same through the product's routes, with a control that delivers. */
const proveRoutes = async (names: NameServer): Promise<void> => {
  const product = await startProduct()
  const steps = ['test', 'retry', 'redeliver'] as const
  await withoutStrayPackets(`${ssrfVectors.length} vectors through the routes`, async () => {
    const problems: string[] = []
    let refused = 0
    let failed = 0
    for (const { kind, reason, url, name, atCreation, later } of ssrfVectors) {
      if (name !== undefined) names.names.set(name, atCreation)
      const made = await product.addEndpoint(url)
      if ('code' in made) {
        if (kind === 'rebinding' || made.code !== 'validation_error')
          problems.push(`create: ${kind}, ${reason}, ${url}: ${made.code}`)
        refused += 1
        continue
      }
      if (kind !== 'rebinding') problems.push(`create: ${kind}, ${reason}, ${url}: accepted`)
      if (name !== undefined) names.names.set(name, later)
      for (const step of steps) {
        const { status, error } = await product[step](made.id)
        if (status !== null || !error?.includes('public'))
          problems.push(`${step}: ${url}: ${status} ${error}`)
        else failed += 1
      }
      await product.removeEndpoint(made.id)
    }
    return {
      problems,
      seen: `${refused} refused at creation, ${failed} attempts to {${steps.join(', ')}} failed`,
    }
  })
  const name = `product.${domain}`
  names.names.set(name, [receiverAddresses[0]])
  const made = await product.addEndpoint(`https://${name}/hook`)
  const control = 'id' in made ? await product.test(made.id) : null
  report.attack({
    what: 'a test event to a public address arrives',
    control: true,
    holds: control?.status === 204,
    seen: `${control?.status ?? 'refused'}`,
  })
  await product.stop()
}

await layNetwork()
const names = await startNameServer(nameServer)
await startReceiver()
await proveControls(names)
await proveStages(names)
await proveOthers(names)
await proveRoutes(names)
if (ssrfVectors.length < vectorsMin) console.log(`FAILED only ${ssrfVectors.length} vectors`)
const isProven = report.failed() === 0 && ssrfVectors.length >= vectorsMin
console.log(isProven ? 'no webhook left the public internet' : `${report.failed()} parts failed`)
process.exit(isProven ? 0 : 1)
