import type { Client } from '@grantry/core'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'

const subjects = [
  'tlsClientAuthSubjectDn',
  'tlsClientAuthSanDns',
  'tlsClientAuthSanUri',
  'tlsClientAuthSanIp',
  'tlsClientAuthSanEmail',
] as const

const selfSigned = 'self_signed_tls_client_auth'

/** Whether the server sees certificates of clients, and whether it or a proxy verifies their chains. */
function sourcesOf({ tls, clientCertificate }: CheckedConfiguration): {
  readonly any: boolean
  readonly verified: boolean
} {
  const requests = tls?.requestCertificates === true
  return {
    any: requests || clientCertificate !== undefined,
    verified: (requests && tls.clientAuthorities !== undefined) || clientCertificate?.verified === true,
  }
}

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

/** Checks that clients that need a certificate can present one. */
export const checkCertificates: Check = ({ configuration, clients }) => {
  const { any, verified } = sourcesOf(configuration)
  return clients.flatMap((client, index): readonly Finding[] => {
    const [member, why] = (client.enabled ? needOf(client) : undefined) ?? []
    if (member === undefined) return []
    const where = `clients[${index}].${member}`
    if (!any) {
      const reason = `${why}, but the server sees no certificates: it gets no token`
      return [finding('certificate-source-missing', where, reason)]
    }
    if (verified || !subjects.some((subject) => subject === member)) return []
    const reason = `${why}, but neither the server nor a proxy verifies the chains of certificates: it gets no token`
    return [finding('certificate-unverified', where, reason)]
  })
}
