import { expect, test } from 'vitest'
import { clientWith, request, selfSigned, start } from './parties.ts'

// The examples of RFC 8705, appendix A.

const lines = [
  'MIIBBjCBrAIBAjAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARtdGxzMB4XDTE4MTAx',
  'ODEyMzcwOVoXDTIyMDUwMjEyMzcwOVowDzENMAsGA1UEAwwEbXRsczBZMBMGByqG',
  'SM49AgEGCCqGSM49AwEHA0IABNcnyxwqV6hY8QnhxxzFQ03C7HKW9OylMbnQZjjJ',
  '/Au08/coZwxS7LfA4vOLS9WuneIXhbGGWvsDSb0tH6IxLm8wCgYIKoZIzj0EAwID',
  'SQAwRgIhAP0RC1E+vwJD/D1AGHGzuri+hlV/PpQEKTWUVeORWz83AiEA5x2eXZOV',
  'bUlJSGQgjwD5vaUaKlLR50Q2DmFfQj1L+SY=',
]
const certificate = lines.join('')

const jwk = {
  kty: 'EC',
  x: '1yfLHCpXqFjxCeHHHMVDTcLscpb07KUxudBmOMn8C7Q',
  y: '8_coZwxS7LfA4vOLS9WuneIXhbGGWvsDSb0tH6IxLm8',
  crv: 'P-256',
}

/** The time at which the certificate was created. */
const now = () => 1_539_866_229

test.each([
  ['the JWK', jwk],
  ['the JWK with x5c', { ...jwk, x5c: [certificate] }],
])('the certificate is that of %s, and its hash is that of the confirmation', async (_, key) => {
  const client = clientWith({ ...selfSigned(key), tlsClientCertificateBoundAccessTokens: true })
  const f = await start([client], {}, { runtime: { now } })
  const { body } = await request(f, { der: certificate, verified: false })
  const { claims } = await f.provider.inspect(body.access_token)
  expect(claims).toMatchObject({ cnf: { 'x5t#S256': 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0' } })
})
