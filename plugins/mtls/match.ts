import type { Client, ClientProblem } from '@grantry/core'
import { hasName, type NameKind } from './alternative-names.ts'
import type { Certificate } from './certificate.ts'
import { type ComparableName, parseName } from './distinguished-name.ts'

const kinds = {
  tlsClientAuthSanDns: 'dns',
  tlsClientAuthSanUri: 'uri',
  tlsClientAuthSanIp: 'ip',
  tlsClientAuthSanEmail: 'email',
} as const satisfies Readonly<Record<string, NameKind>>

const members = ['tlsClientAuthSubjectDn', ...(Object.keys(kinds) as (keyof typeof kinds)[])] as const

/** The names of these members in metadata (RFC 8705 section 2.1.2). */
export const subjectNames = {
  tls_client_auth_subject_dn: 'tlsClientAuthSubjectDn',
  tls_client_auth_san_dns: 'tlsClientAuthSanDns',
  tls_client_auth_san_uri: 'tlsClientAuthSanUri',
  tls_client_auth_san_ip: 'tlsClientAuthSanIp',
  tls_client_auth_san_email: 'tlsClientAuthSanEmail',
} as const

/** Whether the client has a subject for its certificate. */
export const hasSubject = (client: Client): boolean => members.some((member) => client[member] !== undefined)

/** A client has at most one subject (RFC 8705 section 2.1.2). */
export function subjectProblem(client: Client): ClientProblem | undefined {
  const [first, second] = members.filter((member) => client[member] !== undefined)
  return second && { member: second, problem: `cannot be combined with ${first}; remove one of them` }
}

const names = new WeakMap<Client, ComparableName | undefined>()

/** Parses the name of a client once. */
function nameOf(client: Client, text: string): ComparableName | undefined {
  const known = names.get(client)
  if (known !== undefined) return known
  const name = parseName(text)
  names.set(client, name)
  return name
}

/** Whether the subject of a certificate is that of a client. */
export function isSubject(client: Client, certificate: Certificate): boolean {
  const { tlsClientAuthSubjectDn: name } = client
  if (name !== undefined) return certificate.subject === nameOf(client, name)
  return Object.entries(kinds).some(([member, kind]) => {
    const expected = client[member as keyof typeof kinds]
    return expected !== undefined && hasName(certificate, kind, expected)
  })
}

/**
 * Whether a certificate is the one of a JWK: the first of `x5c` or, in a JWK without certificates, any one with the same
 * public key.
 *
 * @see RFC 8705 section 2.2.2
 */
export function isCertificateOf(jwk: Readonly<Record<string, unknown>>, { bytes, key }: Certificate): boolean {
  const { x5c } = jwk
  if (x5c === undefined) return key !== undefined && Object.entries(key).every(([name, value]) => jwk[name] === value)
  const first: unknown = Array.isArray(x5c) ? x5c[0] : undefined
  // RFC 7517 section 4.7: base64, not base64url. Most of many certificates have another length.
  const hasLength = typeof first === 'string' && first.length === 4 * Math.ceil(bytes.length / 3)
  return hasLength && first === btoa(String.fromCharCode(...bytes))
}
