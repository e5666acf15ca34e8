import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashPassword } from '@grantry/users/password-hash'
import { client, healthy, strong, written } from '../server/doctor/configurations.ts'
import { certificate, commonName } from './certificates.ts'
import { current, root, serverCertificate, signedByRoot } from './https.ts'

/** The certificate of the clients, one of the same authority, and one of an unknown party with the same name. */
export const ownCertificate = signedByRoot({ subject: commonName('payments') })
export const otherCertificate = signedByRoot({ subject: commonName('other') })
export const forged = certificate({ subject: commonName('payments'), ...current })

export const secrets = { web: strong('web'), api1: strong('api1') }
export const user = { username: 'alice', password: 'alice-password' }

const scopes = ['openid', 'profile', 'api1']
const bound = { tlsClientCertificateBoundAccessTokens: true }

/** Where the certificates come from: the TLS of the server itself, or nginx. */
export type CertificateSource = 'tls' | 'proxy'

/** Writes the configuration of the ready server with the plugin `mtls`, and the files of its TLS. */
export async function writeMtlsSetting(
  issuer: string,
  source: CertificateSource,
): Promise<{ readonly file: string; readonly directory: string }> {
  const tls = {
    certificate: 'server.pem',
    key: 'server.key',
    requestCertificates: true,
    clientAuthorities: 'clients-ca.pem',
  }
  const proxy = { header: 'X-Client-Cert', format: 'pem', proxies: ['127.0.0.1'], verified: true }
  const setting = written({
    ...healthy,
    issuer,
    storage: { driver: 'memory' },
    clients: [
      { ...client, ...bound, grantTypes: ['client_credentials', 'password'], scopes },
      { ...client, ...bound, secrets: [], clientId: 'payments', tlsClientAuthSubjectDn: 'CN=payments' },
      {
        ...client,
        ...bound,
        secrets: [],
        clientId: 'self-signed',
        tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
        jwks: { keys: [ownCertificate.jwk] },
      },
    ],
    users: [{ ...user, sub: '1', password: await hashPassword(user.password), claims: { name: 'Alice Smith' } }],
    clientTokenSubject: 'client_id',
    plugins: [{ name: 'mtls', endpointAliases: { token_endpoint: `${issuer}/connect/token` } }],
    ...(source === 'tls' ? { tls, trustedProxies: 0 } : { clientCertificate: proxy }),
  })
  const files = {
    'server.pem': serverCertificate.pem,
    'server.key': serverCertificate.keyPem,
    'clients-ca.pem': root.pem,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(setting.directory, name), text)
  return setting
}
