import { collectParts } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { dpop } from '@grantry/plugins/dpop'
import { createTestClock, createTestProvider, sha256Of } from '@grantry/testing'
import { expect, test } from 'vitest'
import { kitOf, kitPlugin } from '../support/kit-of.ts'

// The examples of RFC 9449.

/** Section 4.1, figure 2. */
const tokenProof =
  'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg'
/** Section 7.1, figure 12. */
const resourceProof =
  'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA'
const accessToken = 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU'
/** Section 6.1. */
const thumbprint = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'

const setUp = (issuer: string, time: number) => {
  const clock = createTestClock(time)
  return createTestProvider({
    issuer,
    plugins: [clientCredentials(), dpop(), kitPlugin('kit')],
    endpoints: { token: '/token' },
    runtime: { now: clock.now },
    clients: [
      {
        clientId: 's6BhdRkqt3',
        secrets: [{ sha256: sha256Of('secret') }],
        grantTypes: ['client_credentials'],
        scopes: ['api1'],
      },
    ],
  })
}

test('the proof of section 4.1 is accepted, and its key has the thumbprint of section 6.1', async () => {
  const issuer = 'https://server.example.com'
  const { provider } = await setUp(issuer, 1_562_262_616)
  const form = { grant_type: 'client_credentials', client_id: 's6BhdRkqt3', client_secret: 'secret', scope: 'api1' }
  const request = () =>
    new Request(`${issuer}/token`, {
      method: 'POST',
      headers: { dpop: tokenProof },
      body: new URLSearchParams(form),
    })
  const response = await provider.fetch(request())
  const body = await response.json()
  expect([response.status, body.token_type]).toEqual([200, 'DPoP'])
  expect((await provider.inspect(body.access_token)).claims.cnf).toEqual({ jkt: thumbprint })
  const replayed = await (await provider.fetch(request())).json()
  expect(replayed.error).toBe('invalid_dpop_proof')
})

test('the proof of section 7.1 is accepted for its access token', async () => {
  const { provider } = await setUp('https://resource.example.org', 1_562_262_618)
  const binding = collectParts(dpop()).flatMap(({ part }) => (part.kind === 'token-binding' ? [part] : []))[0]
  const request = {
    method: 'GET',
    url: 'https://resource.example.org/protectedresource',
    header: (name: string) => (name === 'dpop' ? resourceProof : null),
    requestId: undefined,
    clientAddress: undefined,
    clientCertificate: undefined,
    aliasUrl: undefined,
    segments: [],
    trace: () => ({ traceparent: '' }),
    client: { clientId: 's6BhdRkqt3' } as never,
    asksForTokens: false,
  }
  const kit = kitOf(provider, 'kit')
  await expect(binding?.prove({ ...request, accessToken }, kit)).resolves.toMatchObject({ key: thumbprint })
  await expect(binding?.prove({ ...request, accessToken: 'another' }, kit)).rejects.toMatchObject({
    // The name of the plugin whose kit it is.
    details: { reason: 'plugin:kit:ath_mismatch' },
  })
})
