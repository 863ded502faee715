/** A certificate authority for one test, and a certificate that it issues. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const openssl = (...args: string[]) => promisify(execFile)('openssl', args)

export type Certificate = { authority: string; key: string; certificate: string }

export function certificatePaths(folder: string): Certificate {
  return {
    authority: join(folder, 'authority.pem'),
    key: join(folder, 'key.pem'),
    certificate: join(folder, 'certificate.pem'),
  }
}

/** Creates both in the folder, for names and addresses. Returns the paths of the files, which everybody may read. */
export async function makeCertificate(folder: string, ...hosts: string[]): Promise<Certificate> {
  const paths = certificatePaths(folder)
  const [authorityKey, request, extensions] = ['authority-key.pem', 'request.pem', 'extensions'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await openssl(
    ...['req', '-x509', ...key, '-keyout', authorityKey, '-out', paths.authority, '-days', '3650'],
    ...['-subj', '/CN=authority of a test', '-addext', 'basicConstraints=critical,CA:TRUE'],
  )
  await openssl('req', ...key, '-keyout', paths.key, '-out', request, '-subj', '/CN=server of a test')
  const names = hosts.map((host) => `${isIP(host) === 0 ? 'DNS' : 'IP'}:${host}`)
  await writeFile(extensions, `subjectAltName=${names.join(',')}\n`)
  await openssl(
    ...['x509', '-req', '-in', request, '-CA', paths.authority, '-CAkey', authorityKey, '-CAcreateserial'],
    ...['-out', paths.certificate, '-days', '3650', '-extfile', extensions],
  )
  return paths
}
