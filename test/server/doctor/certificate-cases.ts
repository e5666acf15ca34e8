import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { certificate } from '../../mtls/certificates.ts'
import { root, serverCertificate } from '../../mtls/https.ts'
import { sharedDirectory } from '../../support/directory.ts'
import { client, type FindingCase, type HealthyCase, healthy } from './configurations.ts'

const directory = sharedDirectory('doctor-tls')
function file(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}
const files = {
  certificate: file('server.pem', serverCertificate.pem),
  key: file('server.key', serverCertificate.keyPem),
}
const clientAuthorities = file('clients-ca.pem', root.pem)
const requesting = { ...files, requestCertificates: true }

const header = { header: 'X-Client-Cert', format: 'pem', proxies: ['127.0.0.1'] }
const method = 'self_signed_tls_client_auth'
const { jwk } = certificate()

const plain = { ...client, clientId: 'payments', secrets: [] }
const byName = { ...plain, tlsClientAuthSubjectDn: 'CN=payments' }
const byKey = { ...plain, tokenEndpointAuthMethod: method, jwks: { keys: [jwk] } }
const bound = { ...client, tlsClientCertificateBoundAccessTokens: true }

const withClient = (client: object, more: object = {}) => ({
  ...healthy,
  clients: [client],
  plugins: [{ name: 'mtls' }],
  ...more,
})

/** Configurations whose clients can present their certificates. */
export const healthyCertificates: readonly HealthyCase[] = [
  ['mtls without a client that uses it', withClient(client)],
  ['names in certificates of our TLS', withClient(byName, { tls: { ...requesting, clientAuthorities } })],
  ['names in certificates of the proxy', withClient(byName, { clientCertificate: { ...header, verified: true } })],
  ['keys in certificates of our TLS', withClient(byKey, { tls: requesting })],
  ['keys in certificates of the proxy', withClient(byKey, { clientCertificate: header })],
  ['tokens that are bound to certificates of the proxy', withClient(bound, { clientCertificate: header })],
]

const missing = (member: string): FindingCase[2] => ({
  id: 'certificate-source-missing',
  severity: 'error',
  where: `clients[0].${member}`,
})
const unverified: FindingCase[2] = {
  id: 'certificate-unverified',
  severity: 'error',
  where: 'clients[0].tlsClientAuthSubjectDn',
}

export const certificateCases: readonly FindingCase[] = [
  ['tls_client_auth without certificates', withClient(byName), missing('tlsClientAuthSubjectDn')],
  [
    'tls_client_auth of an alternative name without certificates',
    withClient({ ...plain, tlsClientAuthSanDns: 'payments.example.com' }),
    missing('tlsClientAuthSanDns'),
  ],
  [`${method} without certificates`, withClient(byKey), missing('tokenEndpointAuthMethod')],
  [
    'bound tokens without certificates',
    withClient(bound),
    {
      ...missing('tlsClientCertificateBoundAccessTokens'),
      reason: expect.stringContaining('the client gets no token'),
    },
  ],
  [
    'TLS that does not request certificates',
    withClient(bound, { tls: files }),
    missing('tlsClientCertificateBoundAccessTokens'),
  ],
  ['names that are not verified, in our TLS', withClient(byName, { tls: requesting }), unverified],
  ['names that are not verified, in a header', withClient(byName, { clientCertificate: header }), unverified],
  [
    'a certificate method without its plugin',
    { ...healthy, clients: [byKey] },
    { id: 'plugin-missing', where: 'clients[0].tokenEndpointAuthMethod', reason: expect.stringContaining('mtls') },
  ],
  [
    'the method with names of certificates, without its plugin',
    { ...healthy, clients: [{ ...client, tokenEndpointAuthMethod: 'tls_client_auth' }] },
    { id: 'plugin-missing', where: 'clients[0].tokenEndpointAuthMethod', reason: expect.stringContaining('mtls') },
  ],
  [
    'the subject of a certificate without its plugin',
    { ...healthy, clients: [byName] },
    { id: 'plugin-missing', where: 'clients[0].tlsClientAuthSubjectDn' },
  ],
  [
    'a client without keys for its certificates',
    withClient({ ...byKey, jwks: undefined }),
    { id: 'client-without-keys', where: 'clients[0].tokenEndpointAuthMethod' },
  ],
  [
    'missing TLS files',
    { ...healthy, tls: { ...files, key: 'nowhere.key' } },
    { id: 'configuration-invalid', reason: expect.stringContaining('it cannot be read (ENOENT)') },
  ],
]
