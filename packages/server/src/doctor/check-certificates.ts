import type { Client } from '@grantry/core'
import { each, type RulePart } from '../check-rules/rule.ts'
import { allClients, type Facts } from './facts.ts'

const subjects = [
  'tlsClientAuthSubjectDn',
  'tlsClientAuthSanDns',
  'tlsClientAuthSanUri',
  'tlsClientAuthSanIp',
  'tlsClientAuthSanEmail',
] as const

const selfSigned = 'self_signed_tls_client_auth'

/** Returns the member of a client that makes it need a certificate, and why its requests fail without one. */
function needOf(client: Client): readonly [member: string, why: string] | undefined {
  const subject = subjects.find((member) => client[member] !== undefined)
  if (subject !== undefined) return [subject, 'The client authenticates with tls_client_auth']
  if (client.tokenEndpointAuthMethod === selfSigned) {
    return ['tokenEndpointAuthMethod', `The client authenticates with ${selfSigned}`]
  }
  if (client.tlsClientCertificateBoundAccessTokens !== true) return undefined
  return ['tlsClientCertificateBoundAccessTokens', 'The tokens of the client are bound to its certificate']
}

/** Returns the clients that need a certificate, and whether the server sees some, and it or a proxy verifies their chains. */
function clientsWithCertificates(facts: Facts) {
  const { tls, clientCertificate } = facts.configuration
  const requests = tls?.requestCertificates === true
  const isSeen = requests || clientCertificate !== undefined
  const isVerified = (requests && tls.clientAuthorities !== undefined) || clientCertificate?.verified === true
  return allClients(facts).flatMap(({ client, path }) => {
    const [member, why] = (client.enabled ? needOf(client) : undefined) ?? []
    if (member === undefined) return []
    const hasChain = subjects.some((subject) => subject === member)
    return [{ where: `${path}.${member}`, why, isSeen, isVerified: isVerified || !hasChain }]
  })
}

/** The rules for clients that need a certificate: they can present one. */
export const certificateRules: readonly RulePart<Facts>[] = [
  each(clientsWithCertificates, [
    {
      id: 'certificate-source-missing',
      severity: 'error',
      remedy: 'set tls with requestCertificates, or clientCertificate for the header of the proxy that terminates TLS',
      source: 'RFC 8705 section 2; docs/guides/mtls.md',
      check: ({ where, why, isSeen }) =>
        !isSeen && { where, reason: `${why}, but the server sees no certificates: the client gets no token` },
    },
    {
      id: 'certificate-unverified',
      severity: 'error',
      remedy: 'set tls.clientAuthorities, or clientCertificate.verified if the proxy verifies the chains',
      source: 'RFC 8705 section 2.1; docs/guides/mtls.md',
      check: ({ where, why, isSeen, isVerified }) =>
        isSeen &&
        !isVerified && {
          where,
          reason: `${why}, but neither the server nor a proxy verifies the chains of certificates: the client gets no token`,
        },
    },
  ]),
]
