/**
 * Attack: a thief has an access token that is bound to the certificate of a client (RFC 8705 section 3), but not the
 * private key of the certificate.
 */
import { expect, test } from 'vitest'
import type { FindCertificate, ResourceServerOptions } from '../../packages/resource-server/src/index.ts'
import { accepted, createBound, refusalOf } from '../resource-server/bound.ts'
import { bearing, createApi, keyNamed, sign } from '../resource-server/issuer.ts'

const der = new Uint8Array([48, 3, 2, 1, 255])
const pem = `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`
const otherDer = new Uint8Array([48, 3, 2, 1, 254])
const thumbprint = Buffer.from(await crypto.subtle.digest('SHA-256', der)).toString('base64url')

async function send(clientCertificate: FindCertificate | undefined, options: Partial<ResourceServerOptions> = {}) {
  const { api } = await createApi({ clientCertificate, timeout: 0.05, ...options })
  return api.authorize(bearing(await sign(await keyNamed('one'), { cnf: { 'x5t#S256': thumbprint } })))
}

test.each<[string, FindCertificate]>([
  ['as bytes', () => der],
  ['as a view of a larger buffer', () => new Uint8Array([0, ...der, 0]).subarray(1, 6)],
  ['as PEM', async () => pem],
  ['as PEM with the chain', () => `${pem}${pem.replace('MAMC', 'MAMD')}`],
])('the certificate of the token is accepted %s', async (_, find) => {
  accepted(await send(find))
  accepted(await send(find, { requiredBinding: 'certificate' }))
  accepted(await send(find, { requiredBinding: 'any' }))
})

test.each<[string, FindCertificate | undefined, number, string]>([
  ['another certificate', () => otherDer, 401, 'wrong_certificate'],
  ['no certificate', () => undefined, 401, 'certificate_missing'],
  ['an API that knows no certificates', undefined, 401, 'binding_not_supported'],
  ['something that is not a certificate', () => 'abc', 503, 'certificate_unavailable'],
  ['a function that throws', () => expect.fail('no socket'), 503, 'certificate_unavailable'],
  ['a function that hangs', () => new Promise(() => {}), 503, 'certificate_unavailable'],
])('a stolen token is refused with %s', async (_, find, status, reason) => {
  const refused = await send(find)
  expect([refused.response?.status, refused.reason]).toEqual([status, reason])
})

test('a token without a certificate is refused where one is required', async () => {
  const { api } = await createApi({ clientCertificate: () => der, requiredBinding: 'certificate' })
  expect(refusalOf(await api.authorize(bearing(await sign(await keyNamed('one')))))).toEqual([
    401,
    'invalid_token',
    'binding_missing',
  ])
})

test('a token that is bound to a certificate and a key needs both', async () => {
  const cnf = { 'x5t#S256': thumbprint }
  const start = (find: FindCertificate) => createBound({ clientCertificate: find })
  const [right, wrong] = [await start(() => der), await start(() => otherDer)]
  for (const [{ api, client }, expected] of [
    [right, 'proof_missing'],
    [wrong, 'wrong_certificate'],
  ] as const) {
    const token = await sign(await keyNamed('one'), { cnf: { ...cnf, jkt: client.thumbprint } })
    expect((await api.authorize(bearing(token, 'DPoP'))).reason).toBe(expected)
    expect((await api.authorize(bearing(token))).reason).toBe('scheme_mismatch')
  }
})

test('the function that finds the certificate receives the request', async () => {
  const seen: unknown[] = []
  const find: FindCertificate = ({ method, url, source }) => {
    seen.push(method, url, source)
    return der
  }
  accepted(await send(find))
  expect(seen).toEqual(['GET', 'https://api.example/orders', undefined])
})
