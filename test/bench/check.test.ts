import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createCheck } from '../../bench/load/check.ts'
import type { OperationName } from '../../bench/operations.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const jwk = publicKey.export({ format: 'jwk' })

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

function jwt(key: KeyObject, claims: object = {}): string {
  const payload = { iat: 1000, exp: 4600, client_id: 'web-jwt', scope: 'api1', ...claims }
  const input = `${encoded({ alg: 'ES256' })}.${encoded(payload)}`
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

const opaque = 'a'.repeat(43)
const issued = (access_token: string, more: object = {}) => ({
  access_token,
  expires_in: 3600,
  token_type: 'Bearer',
  ...more,
})

/** Returns the problem of the first response, which is always checked in full. */
const verdict = (operation: OperationName, response: object, status = 200): string | undefined =>
  createCheck(operation, jwk)({ status, body: JSON.stringify(response) })

describe('the check of the load generator', () => {
  it.each<[OperationName, object]>([
    ['client-credentials-opaque', issued(opaque)],
    ['client-credentials-es256', issued(jwt(privateKey))],
    ['refresh', issued(opaque, { refresh_token: 'b'.repeat(43) })],
    ['introspection', { active: true, client_id: 'web', scope: 'api1' }],
  ])('accepts a correct response to %s', (operation, response) => {
    expect(verdict(operation, response)).toBeUndefined()
  })

  it.each<[string, OperationName, object]>([
    ['a short token', 'client-credentials-opaque', issued('abc')],
    ['a JWT instead of a reference token', 'client-credentials-opaque', issued(jwt(privateKey))],
    ['another lifetime', 'client-credentials-opaque', issued(opaque, { expires_in: 300 })],
    ['no token type', 'client-credentials-opaque', { access_token: opaque, expires_in: 3600 }],
    ['a signature with another key', 'client-credentials-es256', issued(jwt(otherKey))],
    ['other claims', 'client-credentials-es256', issued(jwt(privateKey, { scope: 'other' }))],
    ['an expiry that contradicts the lifetime', 'client-credentials-es256', issued(jwt(privateKey, { exp: 2000 }))],
    ['no refresh token', 'refresh', issued(opaque)],
    ['the access token as refresh token', 'refresh', issued(opaque, { refresh_token: opaque })],
    ['a token that is not active', 'introspection', { active: false }],
    ['another scope', 'introspection', { active: true, client_id: 'web', scope: 'other' }],
    ['missing claims', 'userinfo', { sub: '1', name: 'Alice Smith' }],
  ])('rejects %s', (_, operation, response) => {
    expect(verdict(operation, response)).toEqual(expect.any(String))
  })

  it('rejects another status', () => {
    expect(verdict('client-credentials-opaque', issued(opaque), 400)).toContain('status 400')
  })

  it('rejects a token that was issued before', () => {
    const check = createCheck('client-credentials-opaque', jwk)
    const response = { status: 200, body: JSON.stringify(issued(opaque)) }
    // Only some responses are checked in full.
    const verdicts = Array.from({ length: 1000 }, () => check(response))
    expect(verdicts.filter((problem) => problem !== undefined).length).toBeGreaterThan(1)
  })
})
