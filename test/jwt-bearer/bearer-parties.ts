import type { ProviderOptions } from '@grantry/core'
import { type JwtBearerOptions, jwtBearer } from '@grantry/plugins/jwt-bearer'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, sha256Of, testClient } from '@grantry/testing'
import { expect } from 'vitest'
import { createIssuerKey } from '../support/trusted-issuer.ts'

export const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
// The parties and the claims of the example in RFC 7523 section 4.
export const issuer = 'https://jwt-rp.example.net'
export const idp = 'https://jwt-idp.example.com'
export const [notBefore, expires] = [1_300_815_780, 1_300_819_380]
export const example = {
  iss: idp,
  sub: 'mailto:mike@example.com',
  aud: issuer,
  nbf: notBefore,
  exp: expires,
  'http://claims.example.com/member': true,
}
export const now = notBefore + 60

export const key = await createIssuerKey('16')
export const [clientId, secret] = testClient

type Issuer = JwtBearerOptions['issuers'][number]

/** A provider that trusts assertions of `idp`; `from` changes what it knows of that issuer. */
export async function setUp(
  from: Partial<Issuer> = {},
  settings: Partial<JwtBearerOptions> = {},
  more: Partial<ProviderOptions> = {},
) {
  let time = now
  const subject: JwtBearerOptions['subject'] = ({ iss, sub }) => ({
    sub: `${iss} ${sub}`,
    amr: ['assertion'],
    idp: iss,
  })
  const f = await createTestProvider({
    issuer,
    plugins: [
      refreshToken(),
      jwtBearer({ issuers: [{ issuer: idp, jwks: { keys: [key.jwk] }, ...from }], subject, ...settings }),
    ],
    clients: [
      {
        clientId,
        secrets: [{ sha256: sha256Of(secret) }],
        grantTypes: [grantType, 'refresh_token'],
        scopes: ['openid', 'api1', 'offline_access'],
      },
    ],
    runtime: { now: () => time },
    ...more,
  })
  return {
    ...f,
    at: (seconds: number) => {
      time = seconds
    },
    redeem: (assertion: string, scope = 'api1') =>
      f.post('token', { grant_type: grantType, assertion, scope }, testClient),
  }
}

type SetUp = Awaited<ReturnType<typeof setUp>>

const prefix = 'plugin:jwt-bearer:'

/** The status, and the reason without its prefix. Every refusal has the same public text. */
export async function outcomeOf(f: SetUp, assertion: string) {
  const { status, body, failure } = await f.redeem(assertion)
  if (status === 200) return 'accepted'
  expect([status, body]).toEqual([400, { error: 'invalid_grant', error_description: 'The assertion is not valid' }])
  return String(failure).startsWith(prefix) ? String(failure).slice(prefix.length) : failure
}
